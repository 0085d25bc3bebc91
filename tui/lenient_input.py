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
from textual.events import Key
from textual.keys import Keys
from textual.message import Message

_KITTY_KEY = re.compile(r"\x1b\[(\d+)(?::[\d:]*)?;(\d*)(?::(\d*))?((?:;[\d:]*)?[u~A-HPQRS])")
"""A key of kitty's protocol: its code, other codes of the same key, modifiers, what happened to it, and the rest."""
_RELEASED = "3"
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
    """Passes over sequences that make no sense."""

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
        return [_named(key) for key in keys]


def _plain_form(sequence: str) -> str:
    """A key of kitty's protocol in the form that was asked for; one that was let go raises `ValueError`."""
    if (found := _KITTY_KEY.fullmatch(sequence)) is None:
        return sequence
    code, modifiers, what, rest = found.groups()
    if what == _RELEASED:
        raise ValueError("a key was let go")
    return f"\x1b[{code};{modifiers}{rest}"


def _named(key: Key) -> Key:
    """The key under its usual name: in the way of xterm's modifyOtherKeys (`CSI 27;2;13 ~`) Enter comes as a return."""
    return Key(f"{key.key[:-1]}enter", None) if key.key.endswith("+\r") else key


def _lenient_decoder(encoding: str) -> Callable[[], IncrementalDecoder]:
    return partial(getincrementaldecoder(encoding), "replace")
