"""What passages get from those that stand next to them."""

from __future__ import annotations

import pytest

from memory.search.neighbours import Neighbours


def placed(*places: tuple[str, str, float | None]) -> Neighbours[str]:
    neighbours: Neighbours[str] = Neighbours()
    for key, group, position in places:
        neighbours.place(key, group, position)
    return neighbours


def shared(neighbours: Neighbours[str], scores: dict[str, float]) -> dict[str, float]:
    return neighbours.share(scores, list(scores))


def test_the_next_one_gets_half_and_the_previous_one_a_fifth() -> None:
    line = placed(("a", "g", None), ("b", "g", None), ("c", "g", None), ("d", "g", None))
    assert shared(line, {"b": 1.0}) == pytest.approx({"b": 1.0, "c": 0.5, "a": 0.2})


def test_shares_come_on_top_of_what_a_passage_has_itself_and_are_not_passed_on() -> None:
    line = placed(("a", "g", None), ("b", "g", None))
    assert shared(line, {"a": 1.0, "b": 2.0}) == pytest.approx({"a": 1.4, "b": 2.5})


def test_groups_are_apart_and_what_has_no_place_keeps_its_score() -> None:
    line = placed(("a", "g", None), ("b", "h", None))
    assert shared(line, {"a": 1.0, "x": 3.0}) == {"a": 1.0, "x": 3.0}


def test_positions_decide_whatever_came_first() -> None:
    line = placed(("late", "g", 9), ("early", "g", -1), ("middle", "g", 4.5))
    assert shared(line, {"middle": 1.0}) == pytest.approx({"middle": 1.0, "late": 0.5, "early": 0.2})
    line.place("last", "g")
    assert shared(line, {"late": 1.0}) == pytest.approx({"late": 1.0, "last": 0.5, "middle": 0.2})


def test_one_position_may_be_claimed_twice() -> None:
    line = placed(("a", "g", 1), ("b", "g", 1))
    assert shared(line, {"a": 1.0}) == pytest.approx({"a": 1.0, "b": 0.5})


def test_removing_and_moving_closes_the_gap() -> None:
    line = placed(("a", "g", 1), ("b", "g", 2), ("c", "g", 3))
    line.remove("b")
    line.remove("b")
    assert shared(line, {"a": 1.0}) == pytest.approx({"a": 1.0, "c": 0.5})
    line.place("c", "h")
    assert shared(line, {"a": 1.0, "c": 1.0}) == {"a": 1.0, "c": 1.0}


def test_only_those_who_are_asked_give() -> None:
    line = placed(("a", "g", None), ("b", "g", None), ("c", "g", None))
    assert line.share({"a": 2.0, "b": 1.0, "c": 0.1}, ["a"]) == pytest.approx({"a": 2.0, "b": 2.0})
