"""Two rankings made one."""

from __future__ import annotations

import pytest

from memory.search.fusion import fuse


def test_each_ranking_counts_half_between_its_worst_and_its_best() -> None:
    fused = fuse({"a": 10.0, "b": 5.0}, {"a": 0.7, "b": 0.8, "c": 0.9})
    assert fused == pytest.approx({"a": 0.5, "b": 0.5, "c": 0.5})


def test_the_best_of_both_beats_the_best_of_one() -> None:
    fused = fuse({"a": 9.0, "b": 8.0}, {"a": 0.7, "b": 0.89, "c": 0.9})
    assert max(fused, key=lambda key: fused[key]) == "b"


def test_a_passage_without_a_vector_is_judged_by_its_words_alone() -> None:
    fused = fuse({"new": 8.0, "old": 10.0}, {"old": 0.9, "other": 0.7})
    assert fused == pytest.approx({"new": 0.8, "old": 1.0, "other": 0.0})


def test_without_any_vectors_the_words_decide() -> None:
    assert fuse({"a": 4.0, "b": 1.0}, {}) == pytest.approx({"a": 1.0, "b": 0.25})


def test_without_any_words_the_meaning_decides() -> None:
    assert fuse({}, {"a": 0.9, "b": 0.8}) == pytest.approx({"a": 0.5, "b": 0.0})


def test_one_candidate_or_none_is_fine() -> None:
    assert fuse({}, {}) == {}
    assert fuse({"a": 3.0}, {"a": 0.5}) == {"a": 1.0}
    assert fuse({}, {"a": -0.5}) == {"a": 0.5}
