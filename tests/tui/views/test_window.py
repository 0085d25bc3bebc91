"""What is mounted of a long chat."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.views.window import AT_FIRST, AT_MOST, STEP, Window, following, with_older


def test_a_short_chat_is_all_there() -> None:
    assert following(Window(), 5, at_end=True) == Window(0, 5)


def test_of_a_long_one_the_newest_are() -> None:
    assert following(Window(), 500, at_end=True) == Window(500 - AT_FIRST, 500)


def test_what_is_new_comes_to_it_and_the_oldest_go_when_there_are_too_many() -> None:
    window = following(Window(470, 500), 530, at_end=True)
    assert window == Window(470, 530)
    assert following(window, 531, at_end=True) == Window(531 - AT_FIRST, 531)


def test_nothing_goes_while_somebody_reads_further_up() -> None:
    assert following(Window(100, 500), 800, at_end=False) == Window(100, 800)


def test_scrolling_back_brings_older_ones_until_there_are_none() -> None:
    assert with_older(Window(30, 100)) == Window(30 - STEP, 100)
    assert with_older(Window(5, 100)) == Window(0, 100)


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), max_size=30))
def test_the_window_is_bounded_and_ends_where_the_chat_ends(steps: list[tuple[int, bool, bool]]) -> None:
    window, total = Window(), 0
    for added, at_end, goes_back in steps:
        total += added
        window = with_older(window) if goes_back else window
        window = following(window, total, at_end=at_end)
        assert 0 <= window.first <= window.end == total
        assert not at_end or window.size <= AT_MOST
