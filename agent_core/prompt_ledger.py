"""Prompt events say only what differs from the prompt before; these folds give each prompt whole again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent_core.event import PromptPart, PromptSent


class PromptLedger:
    """Keeps the parts of the last prompt, and turns between whole prompts and differences.

    Args:
        events: the prompt events so far, those of a restored trace for example.
    """

    def __init__(self, events: Iterable[PromptSent] = ()) -> None:
        self._parts: dict[str, PromptPart] = {}
        for event in events:
            self.apply(event)

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


class Appearance(NamedTuple):
    """From prompt number `since` on (0 is the first) a part was this one; None: it was not considered any more."""

    since: int
    part: PromptPart | None


class PromptHistory:
    """All prompts that were sent. It grows with what changed between them, not with their size."""

    def __init__(self) -> None:
        self.prompts: list[PromptSent] = []
        self._appearances: dict[str, list[Appearance]] = {}

    def apply(self, event: PromptSent) -> None:
        """Take over one prompt event."""
        number = len(self.prompts)
        self.prompts.append(event)
        for key in event.removed:
            self._appearances.setdefault(key, []).append(Appearance(number, None))
        for part in event.parts:
            self._appearances.setdefault(part.key, []).append(Appearance(number, part))

    def story_of(self, key: str) -> tuple[Appearance, ...]:
        """How a part fared over all prompts, one entry for each change."""
        return tuple(self._appearances.get(key, ()))
