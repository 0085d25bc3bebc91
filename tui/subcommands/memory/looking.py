"""`memory list` and `show`."""

from __future__ import annotations

from typing import Any

from memory.agentic.book import Card
from memory.agentic.folder import INDEX_NAME
from memory.agentic.memory_file import BINARY, MemoryFile
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.index_report import show_index
from tui.subcommands.memory.output import counted, moment, origin_text, padded, widest

_WIDEST_PATH = 40


async def list_memories(call: Call) -> int:
    """Print all memories, the newest first."""
    cards = await call.book.memories()
    width = widest([card.file.relative for card in cards], _WIDEST_PATH)
    for card in cards:
        call.out.value(facts_of(card))
        call.out.line(_row(card, width))
    problems = (await call.book.folder.scan()).problems
    for problem in problems:
        call.out.warn(problem)
    if not cards and not problems:
        call.out.line(f"There are no memories in {await call.book.folder.root()} yet.")
    return 1 if problems else 0


async def show(call: Call) -> int:
    """Print one memory with what is known of it, or the index."""
    path = await call.book.find(call.given["name"])
    if path == INDEX_NAME:
        return await show_index(call)
    shown = await call.book.show(path)
    card = next((card for card in await call.book.memories() if card.file.relative == path), None)
    badges = list(dict.fromkeys((*shown.badges, *(card.file.badges if card else ()))))
    is_binary = BINARY in badges
    known = facts_of(card) if card else {"path": path, "origin": shown.origin}
    call.out.value({**known, "badges": badges, "text": shown.text})
    for line in _head(card, badges):
        call.out.line(line)
    call.out.line()
    call.out.text(shown.text)
    if is_binary:
        call.out.warn(f"{path} is no text: nothing of it can be shown.")
    return 1 if is_binary else 0


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
    file = card.file
    badges = ", ".join((*file.badges, *([] if card.is_linked else ["not in the index"])))
    row = f"{padded(file.relative, width)}  {moment(file.modified)}  {file.type or '-':9}  "
    return f"{row}{origin_text(card.origin):12}  {what_of(file)}{f'  [{badges}]' if badges else ''}"


def what_of(file: MemoryFile) -> str:
    """What a memory is about, without its name where that is said already."""
    stem = file.relative.rsplit("/", 1)[-1][:-3]
    return ": ".join(filter(None, ("" if file.name == stem else file.name, file.summary)))


def _head(card: Card | None, badges: list[str]) -> list[str]:
    if card is None:
        return [f"[{', '.join(badges)}]"] if badges else []
    file = card.file
    facts = [file.type or "no type", origin_text(card.origin), moment(file.modified), counted(file.size, "byte")]
    if not card.is_linked:
        badges = [*badges, "not in the index"]
    lines = [file.path, f"{file.name} ({', '.join(facts)})", file.description]
    return [line for line in (*lines, f"[{', '.join(badges)}]" if badges else "") if line]
