"""`memory list` and `show`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from agent_core.tool import LocalBackend
from memory.agentic.book import Card, Shown
from memory.agentic.folder import INDEX_NAME, MemoryFolder
from memory.agentic.folder_paths import path_in, split
from memory.agentic.memory_file import BINARY, MemoryFile
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.index_report import show_index
from tui.subcommands.memory.output import counted, origin_text, padded, widest
from tui.views.moments import minute

_WIDEST_PATH = 40


async def list_memories(call: Call) -> int:
    """Print all memories, the newest first."""
    cards = await call.book.memories()
    width = widest([card.file.relative for card in cards], _WIDEST_PATH)
    for card in cards:
        call.out.value(facts_of(card))
        call.out.row(_row(card, width).rstrip())
    problems = (await call.book.folder.scan()).problems
    for problem in problems:
        call.out.warn(problem)
    if not cards and not problems:
        call.out.line(f"There are no memories in {await call.book.folder.root()} yet.")
        if beside := await _memories_beside(call.book.folder):
            call.out.line(
                f"There are some in {beside}. To have them here: mnemoscope memory import {shlex.quote(beside)}"
            )
    return 1 if problems else 0


async def _memories_beside(folder: MemoryFolder) -> str:
    """Where another program keeps memories in the same workdir; empty where none does."""
    if not isinstance(folder.backend, LocalBackend):
        return ""
    root = await folder.root()
    own = await folder.backend.stat(path_in(root, INDEX_NAME))
    above, _ = split(root)
    for place in (path_in(above, "memory"), above):
        found = await folder.backend.stat(path_in(place, INDEX_NAME))
        # To some disks the names of both folders are one.
        if found is not None and (own is None or found.version != own.version):
            return place
    return ""


async def show(call: Call) -> int:
    """Print one memory with what is known of it, or the index."""
    name = call.given["name"]
    # Where there is none, that has to be told with the place where it would be.
    if name == INDEX_NAME:
        return await show_index(call)
    path = await call.book.find(name)
    if path == INDEX_NAME:
        return await show_index(call)
    shown = await call.book.show(path)
    file = path_in(await call.book.folder.root(), path)
    card = next((card for card in await call.book.memories() if card.file.path == file), None)
    known = facts_of(card) if card else {"path": path, "origin": shown.origin, "badges": []}
    badges = list(dict.fromkeys((*shown.badges, *known["badges"])))
    call.out.value({**known, "badges": badges, "text": shown.text})
    for line in _head(card, shown) if card else [path]:
        call.out.line(line)
    call.out.line()
    call.out.text(shown.text)
    if BINARY in badges:
        call.out.warn(f"{path} is no text: nothing of it can be shown.")
        return 1
    return 0


def facts_of(card: Card) -> dict[str, Any]:
    """What is known of a memory, as JSON."""
    file = card.file
    return {
        "path": file.relative,
        "file": file.path,
        "name": file.name,
        "description": file.description,
        "type": file.type,
        "origin": card.origin,
        "badges": list(file.badges),
        "in_index": card.is_linked,
        "modified": file.modified,
        "size": file.size,
    }


def _row(card: Card, width: int) -> str:
    file, badges = card.file, _badges(card)
    row = f"{padded(file.relative, width)}  {minute(file.modified)}  {file.type or '-':9}  "
    return f"{row}{origin_text(card.origin):12}  {badges}{'  ' if badges else ''}{what_of(file)}"


def _badges(card: Card, more: Iterable[str] = ()) -> str:
    """What a person should know about a memory, in brackets; empty when there is nothing."""
    is_missed = card.file.is_readable and not card.is_linked
    badges = dict.fromkeys((*more, *card.file.badges, *(["not in the index"] if is_missed else [])))
    return f"[{', '.join(badges)}]" if badges else ""


def what_of(file: MemoryFile) -> str:
    """What a memory is about, without its name where that is said already."""
    stem = file.relative.rsplit("/", 1)[-1][:-3]
    return ": ".join(filter(None, ("" if file.name == stem else file.name, file.summary)))


def _head(card: Card, shown: Shown) -> list[str]:
    file = card.file
    facts = [file.type or "no type", origin_text(card.origin), minute(file.modified), counted(file.size, "byte")]
    lines = [file.path, f"{file.name} ({', '.join(facts)})", file.description, _badges(card, shown.badges)]
    return [line for line in lines if line]
