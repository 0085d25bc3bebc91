"""Markdown text to blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.content import Content

from tui.lines import Prefix
from tui.markdown.blocks import Block, Code, Paragraph, Rule
from tui.markdown.inline import inline
from tui.markdown.table import Align, Table
from tui.widgets.literal import literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

HIGHLIGHT_LIMIT = 20_000
"""Characters of code above which it is shown in one colour."""
_MAX_NESTING = 64
_HEADINGS = {"h1": "bold underline $text-primary", "h2": "bold $text-primary"}
_SMALL_HEADING = "bold"
_NOTHING = Content("")
_QUOTE_BAR = Content.styled("▌ ", "$text-muted")
_BULLET = "• "


class Element(NamedTuple):
    """One top-level element: the line of the text on which it begins, and the blocks that show it."""

    line: int
    blocks: list[Block]


def parse(text: str) -> list[Element]:
    """The top-level elements of `text`, in order."""
    from markdown_it.tree import SyntaxTreeNode

    top = _Indent()
    nodes = SyntaxTreeNode(_parser().parse(text)).children
    return [Element(node.map[0] if node.map else 0, list(_blocks(node, top, _NOTHING))) for node in nodes]


def warm_up() -> None:
    """Import what parsing and colouring need, which takes a moment; any thread may do it."""
    parse("```python\npass\n```")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])


class _Indent:
    """What quotes and list items put before lines. A bullet is used up by the first block that takes it.

    Bullets and their indentation belong to the text when it is copied, the bars of quotes do not.
    """

    def __init__(self, outer: _Indent | None = None, bullet: Content = _NOTHING, bar: Content = _NOTHING) -> None:
        self._outer = outer
        self._first = bullet or bar
        self._rest = bar or Content(" " * bullet.cell_length)
        self._is_text = bool(bullet)

    def take(self) -> Prefix:
        """The prefix of the next block."""
        outer = self._outer.take() if self._outer else Prefix()
        first = outer.first + self._first
        prefix = Prefix(first, outer.rest + self._rest, outer.skipped if self._is_text else len(first))
        self._first = self._rest
        return prefix

    @property
    def blank(self) -> Content:
        """What a blank line at this level shows."""
        return ((self._outer.blank if self._outer else _NOTHING) + self._rest).rstrip()


def _blocks(node: SyntaxTreeNode, indent: _Indent, gap: Content | None) -> Iterator[Block]:
    match node.type:
        case "paragraph":
            yield Paragraph(_inline(node), indent.take(), gap)
        case "heading":
            yield Paragraph(_inline(node, _HEADINGS.get(node.tag, _SMALL_HEADING)), indent.take(), gap)
        case "blockquote":
            yield from _children(node.children, _Indent(indent, bar=_QUOTE_BAR), gap)
        case "bullet_list" | "ordered_list":
            yield from _items(node, indent, gap)
        case "fence" | "code_block":
            yield Code(_code(node.content, node.info), indent.take(), gap)
        case "hr":
            yield Rule(indent.take(), gap)
        case "table":
            yield _table(node, indent, gap)
        case _:
            yield Paragraph(literal(node.content.rstrip("\n")), indent.take(), gap)


def _children(
    nodes: Sequence[SyntaxTreeNode], indent: _Indent, gap: Content | None, is_tight: bool = False
) -> Iterator[Block]:
    """The blocks of a container. Its first one stands off from what is before it as the container itself does."""
    between = None if is_tight else indent.blank
    for index, node in enumerate(nodes):
        yield from _blocks(node, indent, between if index else gap)


def _items(node: SyntaxTreeNode, indent: _Indent, gap: Content | None) -> Iterator[Block]:
    items = node.children
    is_tight = any(child.type == "paragraph" and child.hidden for item in items for child in item.children)
    start = cast("int", node.attrs.get("start", 1))
    markers = [f"{start + index}. " if node.type == "ordered_list" else _BULLET for index in range(len(items))]
    width = max(map(len, markers))
    for index, (item, marker) in enumerate(zip(items, markers, strict=True)):
        own = _Indent(indent, bullet=Content.styled(marker.rjust(width), "$text-muted"))
        own_gap = gap if index == 0 else None if is_tight else indent.blank
        if item.children:
            yield from _children(item.children, own, own_gap, is_tight)
        else:
            yield Paragraph(_NOTHING, own.take(), own_gap)


def _table(node: SyntaxTreeNode, indent: _Indent, gap: Content | None) -> Table:
    header, *rows = [row.children for part in node.children for row in part.children]
    return Table(
        [_inline(cell, "bold") for cell in header],
        [[_inline(cell) for cell in row] for row in rows],
        [_align(cell) for cell in header],
        indent.take(),
        gap,
    )


def _align(cell: SyntaxTreeNode) -> Align:
    style = str(cell.attrs.get("style", ""))
    return "right" if "right" in style else "center" if "center" in style else "left"


def _inline(node: SyntaxTreeNode, style: str = "") -> Content:
    tokens = [token for child in node.children if child.token for token in child.token.children or ()]
    return inline(tokens, style)


def _code(code: str, info: str) -> Content:
    content = literal(code.rstrip("\n"))
    language = info.split(maxsplit=1)[0] if info.strip() else ""
    if not language or len(content.plain) > HIGHLIGHT_LIMIT:
        return content
    from textual.highlight import highlight

    coloured = highlight(content.plain, language=language)
    # The highlighter trims and normalises; only where it left the text alone its colours fit.
    return coloured if coloured.plain == content.plain else content
