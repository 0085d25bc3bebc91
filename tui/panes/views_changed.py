"""What a pane posts when a person has changed what views show."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class ViewsChanged(Message):
    """The views of these names (`content`, `filter`, ...) show something else now and are to be drawn again."""

    names: frozenset[str]
