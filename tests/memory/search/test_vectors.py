"""Vectors by key."""

from __future__ import annotations

import math

import pytest

from memory.search.vectors import VectorMatrix

EAST, NORTH, WEST = [1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]


def matrix_of(**vectors: list[float]) -> VectorMatrix[str]:
    matrix: VectorMatrix[str] = VectorMatrix()
    for key, vector in vectors.items():
        matrix.put(key, vector)
    return matrix


def test_cosines_do_not_depend_on_length() -> None:
    matrix = matrix_of(east=EAST, north=NORTH, west=WEST)
    assert matrix.nearest([5.0, 0.0], 3) == pytest.approx({"east": 1.0, "north": 0.0, "west": -1.0})


def test_only_the_nearest_and_those_asked_for_are_given() -> None:
    matrix = matrix_of(east=EAST, north=NORTH, west=WEST)
    assert matrix.nearest(EAST, 1) == pytest.approx({"east": 1.0})
    assert matrix.nearest(EAST, 1, also=["west", "south"]) == pytest.approx({"east": 1.0, "west": -1.0})
    assert matrix.nearest(EAST, 0) == {}


def test_what_is_not_wanted_takes_nobodys_place() -> None:
    matrix = matrix_of(east=EAST, north=NORTH, west=WEST)
    found = matrix.nearest(EAST, 1, also=["east", "west"], only=lambda key: key != "east")
    assert found == pytest.approx({"north": 0.0, "west": -1.0})


def test_removing_keeps_the_others_and_replacing_replaces() -> None:
    matrix = matrix_of(east=EAST, north=NORTH, west=WEST)
    matrix.remove("east")
    matrix.remove("east")
    assert matrix.nearest(EAST, 9) == pytest.approx({"north": 0.0, "west": -1.0})
    matrix.put("west", EAST)
    assert matrix.nearest(EAST, 9) == pytest.approx({"north": 0.0, "west": 1.0})
    matrix.remove("north")
    matrix.remove("west")
    assert (len(matrix), matrix.nearest(EAST, 9)) == (0, {})


def test_it_grows() -> None:
    # Around half a circle, so far apart that no processor's rounding changes which are nearest.
    around = [[math.cos(step * math.pi / 200), math.sin(step * math.pi / 200)] for step in range(200)]
    matrix: VectorMatrix[int] = VectorMatrix()
    for step, vector in enumerate(around):
        matrix.put(step, vector)
    assert len(matrix) == 200
    assert set(matrix.nearest(around[199], 2)) == {198, 199}


def test_a_vector_of_another_length_is_refused_and_nothing_changes() -> None:
    matrix = matrix_of(east=EAST)
    with pytest.raises(ValueError, match="a vector of 3 numbers among vectors of 2"):
        matrix.put("east", [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="a vector of 1 numbers among vectors of 2"):
        matrix.nearest([1.0], 1)
    assert matrix.nearest(EAST, 1) == pytest.approx({"east": 1.0})
    with pytest.raises(ValueError, match="among vectors of 384"):
        VectorMatrix(384).put("a", EAST)


def test_a_vector_of_zeros_is_near_to_nothing() -> None:
    assert matrix_of(nothing=[0.0, 0.0], east=EAST).nearest(EAST, 2) == pytest.approx({"nothing": 0.0, "east": 1.0})
    assert matrix_of(east=EAST).nearest([0.0, 0.0], 1) == pytest.approx({"east": 0.0})
