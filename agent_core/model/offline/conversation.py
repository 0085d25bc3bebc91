"""What the offline model can see: the request, taken apart once. Nothing else is known to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from agent_core.json_text import load_object
from agent_core.message import HintBlock, Msg, ToolCallBlock, ToolResultBlock
from agent_core.model.base import ToolSchema
from agent_core.model.offline.index import IndexEntry, parse_index
from agent_core.model.offline.language import Language, language_of

_FOLDER = re.compile(r"^\W*Memory folder:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_INDEX = re.compile(r"^\W*Index file:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(r"^ *\d+\t")
_INDEX_HEADING = re.compile(r"^#{1,6} .*\bMEMORY\.md\b.*$", re.MULTILINE)
_INDEX_NAME = "MEMORY.md"
_NO_INDEX = "(no memories yet, and no index file)"
"""What the agentic memory's middleware writes in place of an index that is not there."""
_MEMORY_NAME = "memory"
"""Name of the speaker under which memories come in as plain text."""


class ToolRun(NamedTuple):
    """A call made while answering, and its result."""

    name: str
    arguments: dict[str, Any]
    result: ToolResultBlock

    @property
    def path(self) -> str:
        """The file that the call was about."""
        return str(self.arguments.get("file_path", ""))

    @property
    def succeeded(self) -> bool:
        """Whether it did what it was called for."""
        return self.result.state == "success"

    @property
    def refused(self) -> bool:
        """Whether it was not allowed or was stopped; trying something else would be no use."""
        return self.result.state in ("denied", "interrupted")

    @property
    def text(self) -> str:
        """The text that was read, without line numbers and without the notes that `Read` adds."""
        lines = self.result.text().split("\n")
        if any(map(_NUMBERED.match, lines)):
            lines = [line.split("\t", 1)[1] for line in lines if _NUMBERED.match(line)]
        elif len(lines) == 1 and lines[0].startswith("[") and lines[0].endswith("]"):
            lines = []
        return "\n".join(lines)


class Hint(NamedTuple):
    """A memory that was handed over with the request. `source` names it, as far as known."""

    text: str
    source: str


class Conversation:
    """A request seen as a conversation.

    Attributes:
        messages: the messages as sent.
        tools: the names of the tools on offer.
        question: the newest message of a user; None when there is none.
        earlier: what users said before it, oldest first.
        runs: the calls made since, oldest first.
    """

    def __init__(self, messages: Sequence[Msg], tools: Sequence[ToolSchema] = ()) -> None:
        self.messages = messages
        self.tools = frozenset(tool.name for tool in tools)
        spoken = [index for index, msg in enumerate(messages) if msg.role == "user"]
        self.question: Msg | None = messages[spoken[-1]] if spoken else None
        self.earlier = [messages[index] for index in spoken[:-1]]
        self.runs = tuple(_runs(messages[spoken[-1] + 1 :])) if spoken else ()

    @cached_property
    def text(self) -> str:
        """What is to be answered."""
        return (self.question.get_text_content() or "") if self.question else ""

    @cached_property
    def language(self) -> Language:
        """The language to answer in: that of the question, or where it has no words, of what was said before."""
        said = [self.text, *((msg.get_text_content() or "") for msg in reversed(self.earlier))]
        return next((language_of(text) for text in said if re.search(r"[^\W\d_]", text)), "en")

    @cached_property
    def hints(self) -> tuple[Hint, ...]:
        """The memories handed over, newest first."""
        return tuple(hint for msg in reversed(self.messages) for hint in _hints(msg))

    @cached_property
    def folder(self) -> str | None:
        """The memory folder, as the system prompt states it."""
        match = _last(_FOLDER, self._system)
        return match[1].strip("`\"'") if match else None

    @cached_property
    def index_path(self) -> str:
        """The file of the index."""
        match = _last(_INDEX, self._system)
        return match[1].strip("`\"'") if match else self.path_of(_INDEX_NAME)

    @cached_property
    def index(self) -> list[IndexEntry]:
        """The index, as far as it is in the system prompt."""
        # Whatever stands before it may show what such lines look like.
        match = _last(_INDEX_HEADING, self._system) or _last(_INDEX, self._system)
        return parse_index(self._system[match.end() :] if match else self._system)

    @cached_property
    def has_index(self) -> bool:
        """Whether there is an index file, as far as the system prompt tells."""
        return _NO_INDEX not in self._system

    def path_of(self, file: str) -> str:
        """The absolute path of a file in the memory folder."""
        return str(PurePosixPath(self.folder or "/") / file)

    def run(self, name: str, path: str) -> ToolRun | None:
        """The latest call of a tool about a file."""
        return next(reversed(self.runs_on(name, path)), None)

    def runs_on(self, name: str, path: str) -> list[ToolRun]:
        """All calls of a tool about a file, oldest first."""
        return [run for run in self.runs if run.name == name and run.path == path]

    @cached_property
    def answers(self) -> list[str]:
        """What the assistant said so far."""
        return [msg.get_text_content() or "" for msg in self.messages if msg.role == "assistant"]

    @cached_property
    def _system(self) -> str:
        return "\n\n".join(text for msg in self.messages if msg.role == "system" and (text := msg.get_text_content()))


def _runs(messages: Sequence[Msg]) -> Iterator[ToolRun]:
    calls = {block.id: block for msg in messages for block in msg.get_content_blocks(ToolCallBlock)}
    for msg in messages:
        for result in msg.get_content_blocks(ToolResultBlock):
            if call := calls.get(result.id):
                yield ToolRun(call.name, _arguments(call), result)


def _arguments(call: ToolCallBlock) -> dict[str, Any]:
    """The arguments of a call; none where another model wrote what cannot be read."""
    try:
        return load_object(call.input)
    except ValueError:
        return {}


def _hints(msg: Msg) -> Iterator[Hint]:
    for block in msg.blocks:
        if isinstance(block, HintBlock):
            yield Hint(block.hint, block.source or "")
    if msg.role == "assistant" and msg.name == _MEMORY_NAME and (text := msg.get_text_content()):
        yield Hint(text, "")


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    match = None
    for match in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return match
