"""How the messages of the content pane are drawn, one line each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from agent_core.history import COVERED
from agent_core.marks import COMPRESSED
from agent_core.message import Role
from agent_core.tokens import estimate_message_tokens
from tui.literal_text import visible_line
from tui.views.content import ContentView, Row
from tui.views.figures import estimated
from tui.views.flight import Flight
from tui.views.message_text import preview
from tui.widgets.cells import cut, fit
from tui.widgets.literal import literal_line

SENT, NOT_SENT, IN_FLIGHT = "✓", "✗", "⋯"
_ROLES: dict[Role, str] = {"user": "user", "assistant": "asst", "system": "sys"}
_ROLE_STYLES: dict[Role, str] = {"user": "$text-success", "assistant": "$text-primary", "system": "$text-secondary"}
_TOKENS_WIDTH = 5
_LONGEST_CHIP = 30
_WIDE, _MEDIUM = 90, 56


class _Columns(NamedTuple):
    number: int
    role: int
    name: int
    marks: int


def _columns(width: int, count: int) -> _Columns:
    """The widths of the columns, narrow ones where there is little room."""
    number = max(2, len(str(count)))
    if width >= _WIDE:
        return _Columns(number, 4, 12, 40)
    if width >= _MEDIUM:
        return _Columns(number, 4, 9, 24)
    return _Columns(number, 4, 0, 14)


class ContentRows:
    """The rows that the pane shows: stored messages, and below them the one in flight."""

    def __init__(self, view: ContentView) -> None:
        self._view = view

    @property
    def keys(self) -> Sequence[Hashable]:
        """The keys of the stored messages that are shown; None for the message in flight."""
        all_keys, shown = self._view.stored.keys, self._view.shown
        keys = all_keys if len(shown) == len(all_keys) else [all_keys[position] for position in shown]
        return keys if self._view.flight is None else [*keys, None]

    def stamp(self, index: int) -> Hashable:
        """The row itself, or what is known of the message in flight."""
        view, shown = self._view, self._view.shown
        if index < len(shown):
            return view.row(shown[index]), len(str(len(view.stored.entries)))
        return (view.flight.doing, view.flight.preview, view.flight.tokens) if view.flight is not None else None

    def draw(self, index: int, width: int) -> Content:
        """One row, fit for so many cells."""
        shown = self._view.shown
        columns = _columns(width, len(self._view.stored.entries) + 1)
        if index < len(shown):
            return _draw_row(self._view.row(shown[index]), columns)
        if self._view.flight is not None:
            return _draw_flight(self._view.flight, len(self._view.stored.entries) + 1, columns)
        return Content("")


def _draw_row(row: Row, columns: _Columns) -> Content:
    msg = row.entry.msg
    return Content.assemble(
        *_head(
            row.number, SENT if row.included else NOT_SENT, "$text-success" if row.included else "$text-error", columns
        ),
        (fit(_ROLES[msg.role], columns.role), _ROLE_STYLES[msg.role]),
        " ",
        *_name(msg.name, columns),
        (estimated(estimate_message_tokens(msg)).rjust(_TOKENS_WIDTH), "$text-muted"),
        " ",
        *_chips(row.entry.marks, columns.marks),
        *_reason(row, columns),
        literal_line(preview(msg), "" if row.included else "$text-muted"),
    )


def _reason(row: Row, columns: _Columns) -> list[tuple[str, str]]:
    """Why it is not sent. Where there is little room, the mark says already what the summary covers."""
    says_chip = not columns.name and row.reason == COVERED and COMPRESSED in row.entry.marks
    return [] if row.included or says_chip else [(f"{visible_line(row.reason)} · ", "$text-error")]


def _draw_flight(flight: Flight, number: int, columns: _Columns) -> Content:
    return Content.assemble(
        *_head(number, IN_FLIGHT, "$text-warning", columns),
        (fit(_ROLES["assistant"], columns.role), _ROLE_STYLES["assistant"]),
        " ",
        *_name("", columns),
        (estimated(flight.tokens).rjust(_TOKENS_WIDTH), "$text-muted"),
        " ",
        (f"{visible_line(flight.doing)} · ", "$text-warning"),
        literal_line(flight.preview),
    )


def _head(number: int, glyph: str, style: str, columns: _Columns) -> list[str | tuple[str, str]]:
    return [(str(number).rjust(columns.number), "$text-muted"), " ", (glyph, style), " "]


def _name(name: str, columns: _Columns) -> list[str | tuple[str, str]]:
    return [fit(name, columns.name), " "] if columns.name else []


def _chips(marks: Sequence[str], room: int) -> list[str | tuple[str, str]]:
    """Marks as chips, as many as there is room for, and how many more there are. The first may be cut."""
    parts: list[str | tuple[str, str]] = []
    for place, mark in enumerate(marks):
        chip = f"[{cut(mark, max(1, room - 2) if not place else _LONGEST_CHIP)}]"
        if place and cell_len(chip) > room:
            return [*parts, (f"+{len(marks) - place}", "$text-accent"), " "]
        room -= cell_len(chip) + 1
        parts += [(chip, "$text-accent"), " "]
    return parts
