"""Prompt events say only what differs from the prompt before; this fold gives each prompt whole again."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.event import PromptPart, PromptSent


class PromptLedger:
    """Keeps the parts of the last prompt, and turns between whole prompts and differences."""

    def __init__(self) -> None:
        self._parts: dict[str, PromptPart] = {}

    @property
    def parts(self) -> tuple[PromptPart, ...]:
        """The parts of the last prompt; new ones stand where they were first seen, after the older ones."""
        return tuple(self._parts.values())

    def difference(self, parts: Sequence[PromptPart]) -> tuple[tuple[PromptPart, ...], tuple[str, ...]]:
        """What a prompt of these parts changes: parts that are new or differ, and keys that are gone."""
        changed = tuple(part for part in parts if self._parts.get(part.key) != part)
        keys = {part.key for part in parts}
        return changed, tuple(key for key in self._parts if key not in keys)

    def apply(self, event: PromptSent) -> None:
        """Take over one prompt event."""
        for key in event.removed:
            self._parts.pop(key, None)
        self._parts.update((part.key, part) for part in event.parts)
