"""Inline Markdown as styled text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.widgets.literal import literal

if TYPE_CHECKING:
    from markdown_it.token import Token

CODE_STYLE = "$text-accent"
_STYLES = {"em": "italic", "strong": "bold", "s": "strike"}
_LINK_STYLE = "underline"
_ADDRESS_STYLE = "$text-muted"


def inline(tokens: Sequence[Token], style: str = "") -> Content:
    """The children of an inline token, all on top of `style`. Addresses of links are shown and never acted on."""
    pieces: list[Content] = []
    styles = [style] if style else []
    links: list[tuple[str, int]] = []
    for token in tokens:
        kind = token.type
        if kind == "link_open":
            links.append((str(token.attrs.get("href", "")), len(pieces)))
            styles.append(_LINK_STYLE)
        elif kind == "link_close":
            styles.pop()
            address, start = links.pop()
            if address not in ("".join(piece.plain for piece in pieces[start:]), ""):
                pieces.append(literal(f" ({address})", _ADDRESS_STYLE))
        elif kind == "image":
            address = str(token.attrs.get("src", ""))
            pieces.append(literal(f"[image: {token.content or address}] ({address})", _ADDRESS_STYLE))
        elif kind.endswith("_open"):
            styles.append(_STYLES.get(kind.removesuffix("_open"), ""))
        elif kind.endswith("_close"):
            styles.pop()
        elif kind == "code_inline":
            pieces.append(literal(token.content, " ".join([*styles, CODE_STYLE])))
        elif kind in ("softbreak", "hardbreak"):
            pieces.append(Content("\n"))
        else:
            pieces.append(literal(token.content, " ".join(filter(None, styles))))
    return Content.assemble(*pieces)
