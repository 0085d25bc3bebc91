"""Server-sent events out of bytes that may be split anywhere.

Decoded here and not by the SDK, because only this way is it known whether a stream ended with `[DONE]` or broke off,
and whether a silent endpoint still sends its keep-alive comments.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


class ServerSentEvent(NamedTuple):
    """One event: its name (`message` when it has none) and its data lines joined."""

    name: str
    data: str


class EventDecoder:
    """Turns the bytes of a response into events; call `feed` with each piece and `close` at the end.

    Attributes:
        stray: the first line that belongs to no event, such as an error that a proxy has put in the stream's place.
    """

    def __init__(self) -> None:
        self.stray = ""
        self._pieces: list[bytes] = []
        self._mark = codecs.BOM_UTF8
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes."""
        self._pieces.append(data)
        if b"\n" not in data and b"\r" not in data:
            # A large event in many pieces is joined once, when its line ends.
            return []
        *lines, rest = _LINE_END.split(b"".join(self._pieces))
        self._pieces = [rest]
        return [event for line in lines for event in self._take_line(line)]

    def close(self) -> list[ServerSentEvent]:
        """The event that the end of the bytes leaves without its blank line, if any."""
        rest = b"".join(self._pieces).rstrip(b"\r")
        self._pieces = []
        return [event for line in (rest, b"") for event in self._take_line(line)]

    def _take_line(self, raw: bytes) -> list[ServerSentEvent]:
        # The first line may begin with a byte order mark.
        line = raw.removeprefix(self._mark).decode("utf-8", "replace")
        self._mark = b""
        if not line:
            return self._dispatch()
        if line.startswith(("{", "[")):
            # Some servers, and the proxies before them, forget to say that it is data.
            line = f"data:{line}"
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "error":
            # llama.cpp puts an error into a field of its own.
            self._name = "error"
            self._data.append(value)
        elif field not in ("", "id", "retry"):
            self.stray = self.stray or line
        return []

    def _dispatch(self) -> list[ServerSentEvent]:
        name, data = self._name or "message", "\n".join(self._data)
        self._name, self._data = "", []
        return [ServerSentEvent(name, data)] if data.strip() else []
