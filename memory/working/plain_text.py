"""Any str as text that every store takes, one to one.

PostgreSQL refuses NUL, and UTF-8 refuses lone surrogates; both may stand in a mark or a name. Only these and the
backslash are written differently, so that what people look for in a store reads as they know it.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4})")


def escape(text: str) -> str:
    """`text` without NUL and lone surrogates; different texts stay different."""
    # Letters and digits alone, as most ids and marks are, hold none of these; to see that is quicker than to search.
    if text.isalnum():
        return text
    return _SPECIAL.sub(lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """The way back."""
    return _ESCAPE.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text)
