"""Which file of the folder a link means, how such a link is written, and pointing links elsewhere when a file moves.

Understood are the links of `index.find_links`, and `[[name]]` as some programs write it: the file's name without its
ending, with `|text` or `#heading` behind it. Everything here is about names; nothing touches a disk.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from memory.agentic.index import LinkSpan, find_links, spellings
from memory.agentic.same_names import ByName, composed

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_NEEDS_CODE = re.compile(r"[\s\x00-\x1f\x7f%#?&*|:()<>\[\]\\\"'`\udc80-\udcff]")
_NOT_IN_ANGLES = re.compile(r"[\x00-\x1f\x7f<>\\%#&\udc80-\udcff]")
_WIKI_LINK = re.compile(r"(\[\[)([^\[\]|#\r\n]+)((?:[|#][^\[\]\r\n]*)?\]\])")


class Names:
    """The files of a folder, by name, for finding out what links mean.

    Args:
        relatives: their paths from the folder, `/` between folders.
    """

    def __init__(self, relatives: Iterable[str]) -> None:
        relatives = list(dict.fromkeys(relatives))
        self._by_name = ByName(dict(zip(relatives, relatives, strict=True)))
        self._by_stem: dict[str, list[str]] = {}
        for relative in relatives:
            for stem in {composed(_stem(relative)), composed(_stem(posixpath.basename(relative)))}:
                self._by_stem.setdefault(stem, []).append(relative)

    def find(self, target: str, base: str = "") -> str | None:
        """The file that a link's target means.

        Args:
            target: as `find_links` gives it.
            base: the folder of the file that the link is in; links from the top are understood there too.
        """
        for name in spellings(target):
            for start in dict.fromkeys((base, "")):
                if found := self._by_name.get(posixpath.normpath(posixpath.join(start, name))):
                    return found
        return None

    def find_stem(self, name: str) -> str | None:
        """The file that `[[name]]` means; None when there is none, or more than one."""
        found = self._by_stem.get(composed(_stem(name.strip())), [])
        return found[0] if len(found) == 1 else None


def link_target(relative: str) -> str:
    """How a link to a file is written so that every reader takes it: what Markdown could misread is percent-encoded."""
    return _NEEDS_CODE.sub(lambda match: "".join(f"%{byte:02X}" for byte in _bytes(match[0])), relative)


def point_elsewhere(text: str, old: str, new: str, names: Names, *, base: str = "", new_base: str | None = None) -> str:
    """Have the links to one file lead to another; all else in the text stays.

    Args:
        text: of MEMORY.md or of a memory.
        old: the file that moves.
        new: where it moves to.
        names: the files before the move.
        base: the folder that the text's file is in.
        new_base: the folder that it will be in, where it is this file that moves.
    """
    new_base = base if new_base is None else new_base
    lines = (_line_elsewhere(line, old, new, names, base, new_base) for line in _LINE.findall(text))
    return "".join(lines)


def _line_elsewhere(line: str, old: str, new: str, names: Names, base: str, new_base: str) -> str:
    if "](" in line:
        for link in reversed(list(find_links(line))):
            found = names.find(link.target, base)
            if found is not None and (found == old or base != new_base):
                path, hash_mark, anchor = link.target.partition("#")
                suffix = hash_mark + anchor if names.find(path, base) == found else ""
                line = _with_target(line, link, new if found == old else found, suffix, new_base)
    if "[[" in line:
        line = _WIKI_LINK.sub(lambda match: match[1] + _wiki_name(match[2], old, new, names) + match[3], line)
    return line


def _wiki_name(name: str, old: str, new: str, names: Names) -> str:
    if names.find_stem(name) != old:
        return name
    return _stem(new) if "/" in name else _stem(posixpath.basename(new))


def _with_target(line: str, link: LinkSpan, relative: str, suffix: str, base: str) -> str:
    """The line with a link's destination replaced; its title and angle brackets stay."""
    inside = line[slice(*link.inside)]
    path = posixpath.relpath(relative, base) if base else relative
    if inside.lstrip().startswith("<") and not _NOT_IN_ANGLES.search(path):
        changed = f"{inside[: inside.index('<') + 1]}{path}{suffix}{inside[inside.index('>') :]}"
    else:
        changed = f"{link_target(path)}{suffix}{_title_of(inside)}"
    return line[: link.inside[0]] + changed + line[link.inside[1] :]


def _title_of(inside: str) -> str:
    """The title between a link's parentheses, with the blank before it."""
    match = re.search(r"""\s+("[^"]*"|'[^']*'|\([^()]*\))\s*$""", inside)
    return match[0] if match else ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _stem(relative: str) -> str:
    return relative[:-3] if relative[-3:].lower() == ".md" else relative
