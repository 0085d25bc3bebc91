"""What the command says beside its output."""

from __future__ import annotations

import sys

from tui.literal_text import visible_line


def say(text: str) -> None:
    """Print one line for people on standard error."""
    print(f"mnemoscope: {visible_line(text)}", file=sys.stderr, flush=True)
