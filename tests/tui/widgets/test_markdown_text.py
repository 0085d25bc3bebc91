"""Markdown in a widget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tui.widgets.markdown_text import MarkdownText

TABLE = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 5000


class Page(App[None]):
    def compose(self) -> ComposeResult:
        yield MarkdownText()


@asynccontextmanager
async def page() -> AsyncIterator[tuple[Pilot[None], MarkdownText]]:
    async with Page().run_test(size=(60, 20)) as pilot:
        yield pilot, pilot.app.query_one(MarkdownText)


def shown(widget: MarkdownText) -> list[str]:
    return [line.content.plain.rstrip() for line in widget.lines(60)]


async def test_a_text_is_drawn_and_takes_the_height_that_it_needs() -> None:
    async with page() as (pilot, widget):
        widget.set_text("# A\n\n- b\n- c")
        await pilot.pause()
        assert shown(widget) == ["A", "", "• b", "• c"]
        assert widget.size.height == 4


async def test_what_is_large_is_parsed_beside_so_that_keys_are_answered_meanwhile() -> None:
    """T28."""
    async with page() as (pilot, widget):
        widget.set_text(TABLE)
        assert shown(widget) == []
        async with asyncio.timeout(20):
            while not shown(widget):
                await pilot.pause()
        assert shown(widget)[-1].endswith("more rows are not shown; /copy has all of it.")
        assert widget.size.height == len(shown(widget))


async def test_while_one_text_is_parsed_the_newest_of_the_next_ones_is_remembered() -> None:
    async with page() as (pilot, widget):
        for end in range(40_000, len(TABLE), 1_000):
            widget.set_text(TABLE[:end], is_live=True)
        widget.set_text("The end.")
        async with asyncio.timeout(20):
            while shown(widget) != ["The end."]:
                await pilot.pause()


async def test_the_colours_of_code_follow_the_theme() -> None:
    async with page() as (pilot, widget):
        widget.set_text("```python\nimport os\n```")
        await pilot.pause()
        before = widget.render_line(0)
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert widget.render_line(0).text == before.text
        assert widget.render_line(0) != before


def shown_at(widget: MarkdownText, width: int) -> list[str]:
    return [line.content.plain.rstrip() for line in widget.lines(width)]


async def test_a_long_text_at_another_width_is_laid_out_beside_so_that_keys_are_answered_meanwhile() -> None:
    """T22."""
    words = "lorem ipsum dolor sit amet\n\n" * 1_000
    async with page() as (pilot, widget):
        widget.set_text(words)
        async with asyncio.timeout(20):
            while not (before := shown(widget)):
                await pilot.pause()

            # Asked as a layout asks; before the loop has had a turn, nothing can have been laid out beside it.
            assert shown_at(widget, 20) == before
            await pilot.resize_terminal(20, 20)
            while (narrow := shown_at(widget, widget.size.width)) == before:
                await pilot.pause()
        assert narrow[-3:] == ["", "lorem ipsum dolor", "sit amet"]


async def test_a_long_text_goes_on_growing_while_the_width_changes() -> None:
    words = "lorem ipsum dolor sit amet\n\n" * 1_000
    async with page() as (pilot, widget):
        for width, end in ((20, 300), (21, 25_000), (22, 27_000)):
            widget.set_text(words[:end], is_live=True)
            await pilot.resize_terminal(width, 20)
        widget.set_text(words)
        async with asyncio.timeout(20):
            while widget.size.height != 3 * 1_000 - 1:
                await pilot.pause()
        assert shown_at(widget, widget.size.width)[-3:] == ["", "lorem ipsum dolor", "sit amet"]
