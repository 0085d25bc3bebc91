"""What carries the commands out: one function for each command of scope `APP`, by its id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tui.handlers import chat, facts, memory, program, recall, session

if TYPE_CHECKING:
    from tui.screens.main import MainScreen

Handler = Callable[["MainScreen", str], Awaitable[None]]
"""Carries a command out; gets what stands behind a slash command's name, which is empty when it came from a key."""

HANDLERS: dict[str, Handler] = {
    "interrupt": chat.interrupt,
    "retry": chat.retry,
    "details": chat.details,
    "copy": chat.copy,
    "stop_or_quit": chat.stop_or_quit,
    "mark": memory.mark,
    "filter": memory.set_filter,
    "compare": memory.compare,
    "rules": memory.rules,
    "summary": memory.summary,
    "undo": memory.undo,
    "redo": memory.redo,
    "compact": memory.compact,
    "grace": recall.grace,
    "carry": recall.carry,
    "mem0": facts.mem0,
    "user": facts.user,
    "forget": facts.forget,
    "new": session.new,
    "model": session.model,
    "mode": session.mode,
    "show_chat": program.show_chat,
    "show_content": program.show_content,
    "show_filter": program.show_filter,
    "show_index": program.show_index,
    "show_hints": program.show_hints,
    "show_facts": program.show_facts,
    "theme": program.theme,
    "help": program.show_help,
    "palette": program.palette,
    "quit": program.leave,
}
