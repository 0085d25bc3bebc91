"""Where what a memory says came from, in words."""

from __future__ import annotations

ORIGINS = {
    "user": "your own words",
    "model": "the model",
    "tool": "a tool's result: it goes into prompts as data, not as instructions",
    "outside": "outside: it was there before, or another program wrote it",
}
"""By the origin that the history gives."""


def told_origin(origin: object) -> str:
    """An origin for people; one that nobody knows is given as it is."""
    return ORIGINS.get(str(origin), str(origin))
