"""What was said in sessions, looked up by the ids of the messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agent_core.text import first_line
from agent_core.tool.local_files import open_regular
from tui.session_store import is_session_id

_LENGTH = 80
_CHANGE_START = b'{"type":"memory_changed"'


def said_in(folder: Path | None, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The first lines of messages, by session and message; those that cannot be found are left out.

    Args:
        folder: where the sessions are; None when there is no such place.
        wanted: ids of sessions, each with the id of a message.
    """
    by_session: dict[str, set[str]] = {}
    for session_id, msg_id in wanted:
        if msg_id and is_session_id(session_id):
            by_session.setdefault(session_id, set()).add(msg_id)
    found: dict[tuple[str, str], str] = {}
    for session_id, msg_ids in by_session.items() if folder is not None else ():
        assert folder is not None
        for msg in _messages(folder / f"{session_id}.jsonl", msg_ids):
            found.setdefault((session_id, msg["id"]), first_line(_text(msg), _LENGTH))
    return found


def _messages(path: Path, msg_ids: set[str]) -> Iterator[dict[str, Any]]:
    try:
        with open(path, "rb", opener=open_regular) as file:
            # Not decoded unless it may be one of them: nearly every line is not.
            lines = [
                line for line in file if line.startswith(_CHANGE_START) and any(id_.encode() in line for id_ in msg_ids)
            ]
    except OSError:
        return
    for line in lines:
        try:
            entries = json.loads(line)["change"]["entries"]
            yield from (entry["msg"] for entry in entries if entry["msg"]["id"] in msg_ids)
        except (ValueError, KeyError, TypeError, RecursionError):
            continue


def _text(msg: dict[str, Any]) -> str:
    content = msg.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
