"""`MemoryFile`: what is known of one topic file without reading it whole."""

from __future__ import annotations

import hashlib
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from agent_core.text import first_line, well_formed
from agent_core.tool.backend import FileInfo
from memory.agentic.frontmatter import Header, parse_header

READ_LIMIT = 1 << 20
"""Bytes of a file that are looked at, at most; a larger file has the badge `too large`."""

BINARY = "binary"
UTF_16 = "UTF-16: to be saved as UTF-8"
NOT_UTF8 = "not UTF-8"
TOO_LARGE = "too large"
OUTSIDE = "link leads outside"
UNREADABLE = "cannot be read"
DISABLED = "disabled"
PINNED = "pinned"
SAYS_THE_SAME = "says the same as"
_NO_TEXT = frozenset({BINARY, OUTSIDE, UNREADABLE})
_UTF_16_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)
_YES = frozenset({"true", "yes", "on", "1"})

_EXCERPT_LENGTH = 200


class MemoryFile(Struct, frozen=True):
    """One topic file.

    Args:
        path: absolute, links resolved.
        relative: as listed, from the memory folder, with `/` between folders; fit to be shown and sent.
        name: of the header; the file's name without its ending where the header has none.
        description: of the header; may be empty.
        type: of the header: `user`, `feedback`, `project`, `reference`, whatever else was written, or empty.
        modified: seconds since the epoch.
        size: bytes.
        version: changes whenever the content may have.
        badges: what a person should know about it, a few words each.
        excerpt: the first line of its body.
        body_hash: tells bodies apart, blank space aside; empty for an empty one.
    """

    path: str
    relative: str
    name: str
    description: str = ""
    type: str = ""
    modified: float = 0.0
    size: int = 0
    version: str = ""
    badges: tuple[str, ...] = ()
    excerpt: str = ""
    body_hash: str = ""

    @property
    def is_readable(self) -> bool:
        """Whether its content may go into a prompt."""
        return not self.badges or (self.is_text and not self.is_disabled)

    @property
    def is_text(self) -> bool:
        """Whether it lies inside the folder and holds text."""
        return _NO_TEXT.isdisjoint(self.badges)

    @property
    def is_disabled(self) -> bool:
        """Whether a person has taken it out of use, by `disabled: true` in its header."""
        return DISABLED in self.badges

    @property
    def is_pinned(self) -> bool:
        """Whether it is to be recalled before all others, by `pinned: true` in its header."""
        return PINNED in self.badges

    @property
    def summary(self) -> str:
        """What it is about, in one line: the description, or the first line of the body."""
        return " ".join(self.description.split()) or self.excerpt


class Decoded(NamedTuple):
    """Bytes of a file as text, with the badges that they earn."""

    text: str
    badges: tuple[str, ...]


def is_binary(data: bytes) -> bool:
    """Whether nothing of a file can be shown, and so nothing be changed as text."""
    return b"\0" in data or data.startswith(_UTF_16_MARKS)


def decode(data: bytes, *, is_whole: bool) -> Decoded:
    """Turn the start of a file, or all of it, into text; what is not UTF-8 becomes U+FFFD, what is binary nothing."""
    if is_binary(data):
        return Decoded("", (BINARY, UTF_16) if data.startswith(_UTF_16_MARKS) else (BINARY,))
    data = data.removeprefix(BOM_UTF8)
    try:
        # A character cut off by the end of a partial read is no fault of the file.
        return Decoded(getincrementaldecoder("utf-8")("strict").decode(data, final=is_whole), ())
    except UnicodeDecodeError:
        return Decoded(data.decode(errors="replace"), (NOT_UTF8,))


def describe(info: FileInfo, relative: str, path: str, start: bytes) -> MemoryFile:
    """What a file's listing and its first bytes tell.

    Args:
        info: the listing.
        relative: see `MemoryFile`.
        path: the resolved path.
        start: the first bytes, or all of them.
    """
    text, badges = decode(start, is_whole=len(start) >= info.size)
    header = parse_header(text)
    if info.size > READ_LIMIT:
        badges += (TOO_LARGE,)
    if header.problem:
        badges += (header.problem,)
    badges += tuple(badge for badge in (PINNED, DISABLED) if is_set(header, badge))
    return MemoryFile(
        path=path,
        relative=well_formed(relative),
        name=header.fields.get("name", "").strip() or _stem(well_formed(relative)),
        description=header.fields.get("description", "").strip(),
        type=_type(header),
        modified=info.modified,
        size=info.size,
        version=info.version,
        badges=badges,
        excerpt=_excerpt(header.body),
        body_hash=_hash(header.body),
    )


def header_of(data: bytes) -> Header:
    """A whole file taken apart."""
    return parse_header(decode(data, is_whole=True).text)


def is_set(header: Header, flag: str) -> bool:
    """Whether a field of a header says yes."""
    return header.fields.get(flag, "").strip().lower() in _YES


def refused(info: FileInfo, relative: str, path: str, badge: str) -> MemoryFile:
    """A file that is listed with a badge and never read."""
    shown = well_formed(relative)
    return MemoryFile(path, shown, _stem(shown), modified=info.modified, size=info.size, badges=(badge,))


def day_of(moment: float) -> date:
    """The local day of seconds since the epoch; where a disk tells an absurd time, the nearest day that there is."""
    try:
        return datetime.fromtimestamp(moment).date()
    except (OverflowError, OSError, ValueError):
        return date.max if moment > 0 else date.min


def badge_duplicates(files: Sequence[MemoryFile]) -> list[MemoryFile]:
    """Give files that have the description or the body of an earlier one a badge that says so."""
    first: dict[tuple[str, str], str] = {}
    badged: list[MemoryFile] = []
    for file in files:
        keys = [("description", " ".join(file.description.casefold().split())), ("body", file.body_hash)]
        keys = [key for key in keys if key[1]]
        twin = next((first[key] for key in keys if key in first), None)
        badged.append(replace(file, badges=(*file.badges, f"{SAYS_THE_SAME} {twin}")) if twin else file)
        for key in keys:
            first.setdefault(key, file.relative)
    return badged


def _type(header: Header) -> str:
    # Some programs keep it in a nested mapping.
    return (header.fields.get("type") or header.fields.get("metadata.type") or "").strip()


def _stem(relative: str) -> str:
    return re.sub(r"\.md$", "", relative.rsplit("/", maxsplit=1)[-1], flags=re.IGNORECASE)


def _excerpt(body: str) -> str:
    return first_line(body.lstrip("-\r\n \t"), _EXCERPT_LENGTH).lstrip("# ")


def _hash(body: str) -> str:
    words = " ".join(body.split())
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:12] if words else ""
