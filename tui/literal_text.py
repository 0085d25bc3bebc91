"""Text made safe to show: nothing in it can act on a terminal or reorder what stands around it."""

from __future__ import annotations

import re

from agent_core.text import well_formed

_C0_PICTURES = 0x2400
"""Where Unicode keeps pictures of the control characters, in their order: ␛ stands for escape."""
_DELETE_PICTURE = "␡"
# C0 without tab and newline, DEL and C1, line and paragraph separator, bidi embeddings, overrides and isolates.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NOT_IN_JSON = re.compile(_ACTING.pattern + "|[\ud800-\udfff]")


def visible(text: str) -> str:
    """Return `text` with every character that could act on a terminal replaced by one that is only seen.

    Newlines (CR LF counts as one) and tabs stay. Control characters become their pictures, such as `␛`; 8-bit controls,
    odd line separators and bidirectional overrides become escapes such as `\\x9b`; lone surrogates become U+FFFD.
    Everything else, in whatever script, is unchanged.
    """
    if text.isascii() and text.isprintable():
        return text
    return _ACTING.sub(_picture, well_formed(text).replace("\r\n", "\n"))


def harmless_json(text: str) -> str:
    """JSON with every character that could act on a terminal, or that UTF-8 has no bytes for, written as its escape.

    The value is the same, and stays on one line also for readers that take U+2028 for the end of one.
    """
    if text.isascii() and text.isprintable():
        return text
    return _NOT_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def visible_line(text: str) -> str:
    """`visible` for a place that holds one line: newlines and tabs become pictures too."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(_C0_PICTURES + code)
    if code == 0x7F:
        return _DELETE_PICTURE
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
