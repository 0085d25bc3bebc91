"""Searching in all that the messages of the content pane say."""

from __future__ import annotations

from typing import NamedTuple

from tui.views.content import ContentView
from tui.views.message_text import whole_text


class Found(NamedTuple):
    """Where something was found, and words for it; no place when it is nowhere."""

    row: int | None
    note: str


def find(view: ContentView, query: str, here: int, *, forward: bool, include_here: bool = False) -> Found:
    """The next of the shown messages that says `query` in whatever case, and around at the end.

    Args:
        view: what is searched.
        query: not empty.
        here: the row to begin at.
        forward: downwards.
        include_here: whether the row to begin at counts too.
    """
    wanted = query.casefold()
    entries, shown = view.stored.entries, view.shown
    found = [index for index, place in enumerate(shown) if wanted in whole_text(entries[place].msg).casefold()]
    if not found:
        return Found(None, f"“{query}” is in none of these messages")
    after = [index for index in found if index > here or (include_here and index == here)]
    before = [index for index in found if index < here]
    index = (after or found)[0] if forward else (before or found)[-1]
    return Found(index, f"“{query}”: {found.index(index) + 1} of {len(found)}, n and N go on")
