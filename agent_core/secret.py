"""A text that must not turn up in logs, tracebacks or error messages."""

from __future__ import annotations

_SHORTEST = 8
"""Shorter texts are placeholders, such as `ollama` or `test`; to cut them out of messages would only spoil those."""


class Secret:
    """Holds a secret text; only `reveal` gives it out. Falsy when there is none."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(…)" if self else "Secret()"

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def occurs_in(self, text: str) -> bool:
        """Whether `text` gives the secret away."""
        return len(self._text) >= _SHORTEST and self._text in text

    def removed_from(self, text: str) -> str:
        """`text` with an ellipsis in place of the secret."""
        return text.replace(self._text, "…") if self.occurs_in(text) else text
