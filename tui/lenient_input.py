"""What a terminal sends, read so that nothing in it can end the program.

Bytes that are not UTF-8 come with a paste from a terminal of another encoding, with mouse reports of old terminals or
from a bad line; a key in a longer form than was asked for, from a terminal that another program left in another mode.
Either would end the thread of Textual that reads, and the program with it.
"""

from __future__ import annotations

import re
import sys
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Iterable
from functools import partial

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.events import Key, Paste
from textual.keys import Keys
from textual.message import Message

from tui.literal_text import visible

_KITTY_KEY = re.compile(r"\x1b\[(\d+)(?::(\d*)[\d:]*)?;(\d*)(?::(\d*))?((?:;[\d:]*)?[u~A-HPQRS])")
"""A key of kitty's protocol: its code, the one with shift, modifiers, what happened to it, and the rest."""
_OTHER_KEY = re.compile(r"\x1b\[27;(\d+);(\d+)~")
"""A key in the way of xterm's modifyOtherKeys: modifiers, and its code."""
_RELEASED = "3"
_SHIFT, _LOCKS = 1, 64 | 128
"""Bits of the modifiers less one: shift; caps lock and num lock."""
_PASTE_STARTS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_ALT_ENTER = "\x1b\r"
"""Alt+Enter where a terminal knows no other way; Textual takes it for Enter, which would send what is typed."""


def reading_leniently(driver_class: type[Driver]) -> type[Driver]:
    """The driver, made to read with `LenientParser`, and to put a replacement character for what is not UTF-8."""
    module = sys.modules[driver_class.__module__]
    # A driver makes both in the middle of the function that reads, so there is no method to override.
    for name, made in (("getincrementaldecoder", _lenient_decoder), ("XTermParser", LenientParser)):
        if hasattr(module, name):
            setattr(module, name, made)
    return driver_class


class LenientParser(XTermParser):
    """Passes over sequences that make no sense, and takes a paste as text whatever is in it.

    Textual would take what follows an escape in a paste for keys: colours, and the Enter at the end of their line.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        self._tail = ""

    def feed(self, data: str) -> Iterable[Message]:
        """The events of what was read; nothing read is the end."""
        if not data:
            yield from super().feed(data)
        while data:
            part, data, is_mark = self._up_to(_PASTE_STARTS if self._pasted is None else _PASTE_ENDS, data)
            if self._pasted is not None:
                self._pasted.append(part)
                if is_mark:
                    text = "".join(self._pasted)[: -len(_PASTE_ENDS)]
                    self._pasted = None
                    yield Paste(text.replace("\x00", ""))
                continue
            yield from super().feed(part)
            if is_mark:
                self._pasted = []
                # As far as Textual is concerned nothing was pasted.
                yield from (event for event in super().feed(_PASTE_ENDS) if not isinstance(event, Paste))

    def _up_to(self, mark: str, data: str) -> tuple[str, str, bool]:
        """`data` up to the end of a mark, which may have begun before, the rest of it, and whether the mark came."""
        seen = self._tail + data
        place = seen.find(mark)
        if place < 0:
            self._tail = seen[1 - len(mark) :]
            return data, "", False
        end = place + len(mark) - len(self._tail)
        self._tail = ""
        return data[:end], data[end:], True

    def parse_mouse_code(self, code: str) -> Message | None:
        """The event of a mouse report; None for one that lies nowhere."""
        try:
            return super().parse_mouse_code(code)
        except (ArithmeticError, ValueError):
            return None

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        if sequence == _ALT_ENTER:
            return [Key("alt+enter", None)]
        try:
            keys = list(super()._sequence_to_key_events(_plain_form(sequence), alt))
        except (ArithmeticError, ValueError):
            return [Key(Keys.Ignore, sequence)]
        return [_typed(key) for key in keys]


def _plain_form(sequence: str) -> str:
    """A key of kitty's protocol in the form that was asked for; one that was let go raises `ValueError`."""
    if (found := _KITTY_KEY.fullmatch(_OTHER_KEY.sub("\x1b[\\2;\\1u", sequence))) is None:
        return sequence
    code, shifted, modifiers, what, rest = found.groups()
    if what == _RELEASED:
        raise ValueError("a key was let go")
    bits = int(modifiers or 1) - 1
    if rest == "u" and bits & ~_LOCKS == _SHIFT and (text := chr(int(shifted or code))).isprintable():
        return text.upper()
    return f"\x1b[{code};{modifiers}{rest}"


class _Text(str):
    """A character that is text though Python calls it unprintable."""

    def isprintable(self) -> bool:
        return True


def _typed(key: Key) -> Key:
    """The key, its character taken for text where that is harmless: Textual would drop wide blanks and joiners."""
    character = key.character
    if character is None or character.isascii() or character.isprintable() or visible(character) != character:
        return key
    return Key(key.key, _Text(character))


def _lenient_decoder(encoding: str) -> Callable[[], IncrementalDecoder]:
    return partial(getincrementaldecoder(encoding), "replace")
