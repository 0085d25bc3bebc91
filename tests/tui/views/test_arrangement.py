"""What is seen at which size."""

from __future__ import annotations

from tui.views.arrangement import CHAT, PANES, Arrangement, arrangement


def test_where_it_is_narrow_one_thing_is_seen() -> None:
    assert arrangement(80, 24, CHAT, "filter") == Arrangement(True, ())
    assert arrangement(80, 24, "filter", "filter") == Arrangement(False, ("filter",))
    assert arrangement(1, 1, CHAT, "content") == Arrangement(True, ())


def test_where_it_is_wide_a_pane_stands_beside_the_chat() -> None:
    assert arrangement(100, 24, CHAT, "index") == Arrangement(True, ("index",))
    assert arrangement(120, 30, "index", "index") == Arrangement(True, ("index",))


def test_where_it_is_wide_and_high_there_are_two() -> None:
    assert arrangement(120, 40, CHAT, "content") == Arrangement(True, ("content", "hints"))
    assert arrangement(120, 40, CHAT, "hints") == Arrangement(True, ("content", "hints"))
    assert arrangement(120, 40, CHAT, "filter") == Arrangement(True, ("filter", "hints"))


def test_where_there_is_room_all_are_seen() -> None:
    assert arrangement(200, 60, CHAT, "index") == Arrangement(True, PANES)
    assert arrangement(200, 30, CHAT, "index") == Arrangement(True, ("index",))
