from __future__ import annotations

from collections.abc import Hashable, Sequence

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot

from tui.widgets.literal import literal_line
from tui.widgets.row_list import Follow, RowList


class Words:
    """Rows that are strings, each its own key."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self.drawn: list[int] = []
        self.style = ""

    @property
    def keys(self) -> Sequence[Hashable]:
        return [word if word else None for word in self.words]

    def stamp(self, index: int) -> Hashable:
        return self.words[index], self.style

    def draw(self, index: int, width: int) -> Content:
        self.drawn.append(index)
        return literal_line(self.words[index], self.style)


class ListApp(App[None]):
    def __init__(self, words: Sequence[str], follow: Follow = "nothing") -> None:
        super().__init__()
        self.words = Words(words)
        self.list = RowList(self.words, follow=follow)
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.list.rows_changed()
        self.list.focus()

    def change(self, words: Sequence[str]) -> None:
        self.words.words = list(words)
        self.list.rows_changed()

    def on_row_list_opened(self) -> None:
        self.heard.append(f"opened {self.list.cursor_key}")

    def on_row_list_cursor_moved(self) -> None:
        self.heard.append(f"at {self.list.cursor_key}")


def lines(app: ListApp) -> list[str]:
    rows = app.list
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


NUMBERS = [str(number) for number in range(100)]


async def pressed(pilot: Pilot[None], *keys: str) -> RowList:
    await pilot.press(*keys)
    return pilot.app.query_one(RowList)


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        (["down"], "1"),
        (["down", "down", "up"], "1"),
        (["up"], "0"),
        (["end"], "99"),
        (["end", "down"], "99"),
        (["end", "home"], "0"),
        (["pagedown"], "9"),
        (["pagedown", "pagedown", "pageup"], "9"),
        (["G"], "99"),
        (["j", "j", "k"], "1"),
    ],
)
async def test_keys_move_the_cursor_and_it_stays_in_sight(keys, cursor):
    async with ListApp(NUMBERS).run_test(size=(20, 10)) as pilot:
        rows = await pressed(pilot, *keys)
        assert rows.cursor_key == cursor
        assert any(line.startswith("›") for line in lines(pilot.app))


async def test_only_what_is_seen_is_drawn():
    async with ListApp([str(number) for number in range(10_000)]).run_test(size=(20, 10)) as pilot:
        await pressed(pilot, "end")
        assert len(set(pilot.app.words.drawn)) <= 30


async def test_the_cursor_stays_with_its_row_when_rows_above_come_and_go():
    app = ListApp(NUMBERS)
    async with app.run_test(size=(20, 10)) as pilot:
        rows = await pressed(pilot, *["pagedown"] * 5)
        assert rows.cursor_key == "45"
        line = lines(app).index("› 45")
        app.change(["new", *NUMBERS])
        await pilot.pause()
        assert rows.cursor_key == "45"
        assert lines(app).index("› 45") == line
        app.change(NUMBERS[40:])
        await pilot.pause()
        assert rows.cursor_key == "45"
        assert "› 45" in lines(app)


async def test_when_its_row_goes_the_cursor_falls_to_the_next_one_that_is_left():
    app = ListApp(NUMBERS)
    async with app.run_test(size=(20, 10)) as pilot:
        rows = await pressed(pilot, "pagedown")
        app.change([number for number in NUMBERS if number not in ("8", "9", "10")])
        assert rows.cursor_key == "11"
        app.change(NUMBERS[:5])
        assert rows.cursor_key == "4"
        app.change([])
        assert rows.cursor is None
        assert rows.targets == []
        app.change(["x"])
        assert rows.cursor_key == "x"


async def test_a_cursor_at_the_end_stays_at_the_end():
    app = ListApp(NUMBERS, "end")
    async with app.run_test(size=(20, 10)) as pilot:
        assert app.list.cursor_key == "99"
        app.change([*NUMBERS, "new"])
        await pilot.pause()
        assert app.list.cursor_key == "new"
        assert lines(app)[-1] == "› new"
        await pilot.press("up")
        app.change([*NUMBERS, "new", "newer"])
        assert app.list.cursor_key == "99"


async def test_a_cursor_at_the_start_stays_at_the_start():
    app = ListApp(["1", "2"], "start")
    async with app.run_test(size=(20, 10)) as pilot:
        app.change(["0", "1", "2"])
        assert app.list.cursor_key == "0"
        await pilot.press("down")
        app.change(["-1", "0", "1", "2"])
        assert app.list.cursor_key == "1"


async def test_scrolled_away_from_the_cursor_the_view_stays_where_it_is():
    app = ListApp(NUMBERS, "end")
    async with app.run_test(size=(20, 10)) as pilot:
        app.list.scroll_to(y=50, animate=False)
        await pilot.pause()
        app.change(["new", *NUMBERS, "newer"])
        await pilot.pause()
        assert lines(app)[0] == "  50"
        assert app.list.cursor_key == "newer"


async def test_rows_are_selected_one_by_one_all_and_in_ranges():
    app = ListApp(["a", "b", "c", "d"])
    async with app.run_test(size=(20, 10)) as pilot:
        rows = app.list
        assert rows.targets == ["a"]
        rows.toggle_row()
        await pilot.press("down", "down")
        rows.toggle_row()
        assert rows.targets == ["a", "c"]
        assert lines(app)[:3] == [" ▪a", "  b", "›▪c"]
        rows.toggle_row()
        assert rows.targets == ["a"]
        rows.toggle_all()
        assert rows.targets == ["a", "b", "c", "d"]
        rows.toggle_all()
        assert rows.targets == ["c"]
        await pilot.press("shift+up", "shift+up")
        assert rows.targets == ["a", "b", "c"]
        await pilot.press("shift+down", "shift+down", "shift+down")
        assert rows.targets == ["c", "d"]
        rows.clear_selection()
        assert rows.targets == ["d"]


async def test_a_row_that_is_gone_is_not_selected_any_more():
    app = ListApp(["a", "b", "c"])
    async with app.run_test(size=(20, 10)):
        app.list.toggle_all()
        app.change(["a", "c"])
        assert app.list.targets == ["a", "c"]


async def test_a_row_without_a_key_cannot_be_selected():
    app = ListApp(["a", ""])
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.press("end")
        app.list.toggle_row()
        assert app.list.targets == []
        app.list.toggle_all()
        assert app.list.targets == ["a"]


async def test_a_click_moves_the_cursor_two_open_and_ctrl_selects():
    app = ListApp(["a", "b", "c"])
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.click(RowList, offset=(3, 1))
        assert app.list.cursor_key == "b"
        await pilot.click(RowList, offset=(3, 2), times=2)
        assert app.heard[-1] == "opened c"
        await pilot.click(RowList, offset=(3, 0), control=True)
        assert app.list.targets == ["a"]
        await pilot.click(RowList, offset=(3, 2), shift=True)
        assert app.list.targets == ["a", "b", "c"]
        await pilot.click(RowList, offset=(3, 7))
        assert app.list.cursor_key == "c"


@pytest.mark.parametrize(
    "word", ["日本語日本語日本語", "🙂🙂🙂🙂🙂🙂🙂🙂", "👩‍👩‍👧 family", "[/x] [red]b[/]", "é" * 40, "\x1b[2J\n\t"]
)
async def test_wide_and_odd_text_fills_exactly_the_width(word):
    """T02, T06, T11: markup, escapes and wide characters in a row."""
    app = ListApp([word, "plain"])
    async with app.run_test(size=(15, 5)):
        strip = app.list.render_line(0)
        assert strip.cell_length == 15
        assert "\x1b" not in strip.text
        assert app.list.render_line(4).cell_length == 15
        if word.startswith("["):
            assert "[/x]" in strip.text


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (3, 2), (80, 1)])
async def test_a_tiny_terminal_is_no_crash(size):
    """T22: a terminal of one cell, and back."""
    app = ListApp(NUMBERS, "end")
    async with app.run_test(size=size) as pilot:
        await pilot.press("up", "pageup", "end")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "› 99" in lines(app)
        await pilot.resize_terminal(*size)
        await pilot.pause()
        assert app.list.cursor_key == "99"


async def test_a_change_of_the_cursor_is_told_once():
    app = ListApp(["a", "b", "c"])
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        app.heard.clear()
        await pilot.press("down")
        app.change(["b", "c"])
        app.change(["c"])
        await pilot.pause()
        assert app.heard == ["at b", "at c"]


async def test_beside_a_scroll_bar_what_is_cut_shows_so():
    app = ListApp(["x" * 50] * 30)
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        assert app.list.show_vertical_scrollbar
        strip = app.list.render_line(0)
        assert strip.cell_length == 20 - app.list.scrollbar_size_vertical
        assert strip.text.endswith("…")


async def test_only_the_lines_that_look_different_are_drawn_anew():
    app = ListApp(["a", "b", "c"])
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        app.words.drawn.clear()
        app.change(["a", "b", "c"])
        await pilot.pause()
        assert app.words.drawn == []
        await pilot.press("down")
        assert sorted(app.words.drawn) == [0, 1]
        app.words.drawn.clear()
        app.change(["a", "b", "c", "d"])
        await pilot.pause()
        assert app.words.drawn == [3]


async def test_a_row_that_looks_different_under_the_same_key_is_drawn_anew():
    app = ListApp(["a", "b"])
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        app.words.drawn.clear()
        app.words.style = "bold"
        app.list.rows_changed()
        await pilot.pause()
        assert app.words.drawn == [0, 1]


async def test_a_range_is_extended_from_the_row_where_it_began_though_rows_above_come():
    app = ListApp(["a", "b", "c"])
    async with app.run_test(size=(20, 10)) as pilot:
        await pilot.press("down", "shift+down")
        app.change(["new", "a", "b", "c"])
        await pilot.press("shift+up", "shift+up")
        assert app.list.targets == ["a", "b"]


async def test_it_can_be_painted_before_it_hears_that_rows_have_gone() -> None:
    """A pane that was hidden while its rows went: on coming into sight it is painted first."""
    app = ListApp(["one", "two", "three"])
    async with app.run_test() as pilot:
        app.words.words = []
        app.list.notify_style_update()
        app.list.refresh()
        await pilot.pause()
        assert not "".join(lines(app)).strip()
