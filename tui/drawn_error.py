"""Errors of which only a drawing is left: what Textual hands over from the thread that reads the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from rich.console import Console, RenderableType
from rich.traceback import Traceback

_WIDTH = 120


def drawn(renderables: Iterable[RenderableType]) -> str:
    """The drawings as plain text."""
    console = Console(file=StringIO(), width=_WIDTH, color_system=None)
    with console.capture() as capture:
        console.print(*renderables)
    return capture.get()


def kind_of_drawn(renderables: Iterable[RenderableType]) -> str:
    """The name of the exception that is drawn."""
    stacks = (each.trace.stacks for each in renderables if isinstance(each, Traceback))
    return next((str(found[0].exc_type) for found in stacks if found), "error")
