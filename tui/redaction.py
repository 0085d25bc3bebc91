"""`Redaction`: the events of a session without what they tell of a memory that is deleted for good.

The messages that made the memory, and what was said in the replies that wrote it, are emptied as a whole, and so are
calls of tools on its file and hints that quoted it. Elsewhere the lines of the index that lead to it and the phrases
that it holds are replaced. Messages keep their ids, marks and places, so that the session can be gone on with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from memory.agentic.index import find_links
from memory.agentic.link_edit import Names
from memory.agentic.purge import Trail
from tui.telling_phrases import Phrases

MARK = "[deleted for good]"
"""Stands where something was."""
_SAID = frozenset({"text", "thinking", "hint"})
_PATH_ARGUMENT = "file_path"

Fields = dict[str, Any]


class Redaction:
    """What must not be told any more.

    Args:
        trail: what is known of the memory.
        files: the absolute paths that its file has had.

    Attributes:
        prompts: what people typed that was emptied as a whole.
        passages: how many texts have been changed so far.
    """

    def __init__(self, trail: Trail, files: Collection[str]) -> None:
        self.prompts: set[str] = set()
        self.passages = 0
        self._files = files
        self._names = Names(trail.paths)
        self._phrases = Phrases(trail.texts)
        self._replies, self._messages = set(trail.reply_ids), set(trail.msg_ids)
        self._calls = set(trail.call_ids)
        self._answers: set[object] = set()
        self._blocks: dict[str, str] = {}

    def learn(self, events: Iterable[Fields]) -> None:
        """Look through a session for what only the whole of it tells: calls on the file, and texts told in pieces.

        Also which messages belong to the replies that wrote it, for a store that does not tell.
        """
        pieces: dict[str, list[Fields]] = {}
        for event in events:
            if event.get("type") == "tool_started" and self._is_on_file(event.get("arguments")):
                self._calls.add(str(event.get("call_id")))
            elif event.get("type") == "memory_changed" and event.get("reply_id") in self._replies:
                self._answers |= {msg.get("id") for msg in _messages_of(event)}
            elif event.get("type") == "block_delta":
                pieces.setdefault(str(event.get("block_id")), []).append(event)
        for block_id, deltas in pieces.items():
            whole = "".join(str(delta.get("text", "")) for delta in deltas)
            redacted = self._block(block_id, deltas[0], whole)
            if redacted != whole:
                self._blocks[block_id] = redacted

    def learn_messages(self, messages: Iterable[Fields]) -> None:
        """Look through messages for calls on the file."""
        for msg in messages:
            content = msg.get("content")
            for block in content if isinstance(content, list) else ():
                if block.get("type") == "tool_call" and self._is_on_file(_decoded(block.get("input"))):
                    self._calls.add(str(block.get("id")))

    def message(self, msg: Fields) -> Fields:
        """A stored message without it; equal to the message where there was nothing of it."""
        return self._message(msg)

    def event(self, event: Fields) -> Fields:
        """An event without it; equal to the event where there was nothing of it."""
        redacted = self._event(event)
        self.passages += redacted != event
        return redacted

    def text(self, text: str) -> str:
        """A text without it; also one that is JSON."""
        if text.startswith(("{", "[")):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                pass
            else:
                redacted = self._value(value)
                return text if redacted == value else json.dumps(redacted, ensure_ascii=False)
        lines = [MARK if self._leads_there(line) else line for line in text.split("\n")]
        return self._phrases.replaced("\n".join(lines), MARK)

    def _event(self, event: Fields) -> Fields:
        match event.get("type"):
            case "memory_changed" if isinstance(event.get("change"), dict):
                return {**event, "change": self._change(event["change"], event.get("reply_id"))}
            case "block_delta" if event.get("block_id") in self._blocks:
                # All of it with the first piece, so that nothing depends on where it was cut.
                block_id = event["block_id"]
                text, self._blocks[block_id] = self._blocks[block_id], ""
                return {**event, "text": text}
            case "tool_started" | "permission_asked" | "tool_ended" if event.get("call_id") in self._calls:
                return self._call(event)
            case "file_changed" if event.get("path") in self._files or event.get("from_path") in self._files:
                return {**event, "diff": ""} if event.get("diff") else event
            case "retrieval_started" if event.get("reply_id") in self._replies:
                return {**event, "question": MARK}
            case "retrieval_ended" if isinstance(event.get("memories"), list):
                return {**event, "memories": [self._recalled(memory) for memory in event["memories"]]}
        return self._fields(event)

    def _block(self, block_id: str, first: Fields, whole: str) -> str:
        if block_id in self._calls:
            return ""
        if first.get("reply_id") in self._replies and first.get("kind") != "tool_call":
            return MARK
        return self.text(whole)

    def _change(self, change: Fields, reply_id: object) -> Fields:
        entries = change.get("entries")
        if not isinstance(entries, list):
            return self._fields(change)
        redacted = [
            {**entry, "msg": self._message(entry["msg"], reply_id)} if isinstance(entry.get("msg"), dict) else entry
            for entry in entries
        ]
        return {**self._fields({key: value for key, value in change.items() if key != "entries"}), "entries": redacted}

    def _message(self, msg: Fields, reply_id: object = None) -> Fields:
        content, metadata = msg.get("content"), msg.get("metadata")
        if msg.get("id") in self._messages:
            self.prompts |= {text.strip() for text in _texts(content)}
            return {**msg, "content": _emptied(content)}
        if isinstance(metadata, dict) and metadata.get("file") in self._files:
            return {**msg, "content": _emptied(content)}
        is_answer = reply_id in self._replies or msg.get("id") in self._answers
        if msg.get("role") == "assistant" and is_answer:
            content = _emptied(content)
        if isinstance(content, list):
            content = [self._part(block) if isinstance(block, dict) else block for block in content]
        else:
            content = self._value(content)
        return {**msg, "content": content}

    def _part(self, block: Fields) -> Fields:
        if block.get("id") in self._calls:
            if block.get("type") == "tool_call":
                return {**block, "input": self._input(block.get("input"))}
            if block.get("type") == "tool_result":
                return {**block, "output": MARK}
        return self._fields(block)

    def _input(self, text: object) -> str:
        return json.dumps(_arguments(_decoded(text)), ensure_ascii=False)

    def _call(self, event: Fields) -> Fields:
        redacted = dict(event)
        if "arguments" in event:
            redacted["arguments"] = _arguments(event["arguments"])
        if event.get("diff"):
            redacted["diff"] = ""
        return redacted

    def _recalled(self, memory: Any) -> Any:
        if isinstance(memory, dict) and memory.get("path") in self._files:
            return {**memory, "text": MARK}
        return self._value(memory)

    def _fields(self, fields: Mapping[str, Any]) -> Fields:
        return {key: self._value(value) for key, value in fields.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return self._fields(value) if isinstance(value, dict) else value

    def _is_on_file(self, arguments: Any) -> bool:
        path = arguments.get(_PATH_ARGUMENT) if isinstance(arguments, dict) else None
        return (
            isinstance(path, str)
            and "\0" not in path
            and (path in self._files or os.path.realpath(path) in self._files)
        )

    def _leads_there(self, line: str) -> bool:
        return "](" in line and any(self._names.find(link.target) is not None for link in find_links(line))


def _messages_of(event: Fields) -> list[Fields]:
    """The messages that a change of the memory brings."""
    change = event.get("change")
    entries = change.get("entries") if isinstance(change, dict) else None
    return [entry["msg"] for entry in entries or () if isinstance(entry, dict) and isinstance(entry.get("msg"), dict)]


def _decoded(arguments: object) -> object:
    """The arguments of a call; None where they are no JSON."""
    try:
        return json.loads(str(arguments))
    except (ValueError, RecursionError):
        return None


def _arguments(arguments: Any) -> Any:
    """The arguments of a call with its path only."""
    if not isinstance(arguments, dict):
        return {}
    return {
        key: MARK if isinstance(value, str) and key != _PATH_ARGUMENT else value for key, value in arguments.items()
    }


def _emptied(content: Any) -> Any:
    """The content of a message with nothing said in it."""
    if isinstance(content, str):
        return MARK
    if not isinstance(content, list):
        return content
    return [
        {key: MARK if key in _SAID else value for key, value in block.items()} if isinstance(block, dict) else block
        for block in content
    ]


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
