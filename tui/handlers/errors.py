"""What a handler raises when it cannot do what was asked."""

from __future__ import annotations


class CommandError(Exception):
    """A command cannot be carried out; says in one line why, and what to do."""
