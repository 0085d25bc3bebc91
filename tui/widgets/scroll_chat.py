"""What a widget below the chat posts when its keys are to scroll the chat."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class ScrollChat(Message):
    """The chat is to be scrolled by so many screenfuls, upwards when negative."""

    pages: int
