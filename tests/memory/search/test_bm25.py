"""BM25: which texts fit a question, and how well."""

from __future__ import annotations

import pytest

from memory.search.bm25 import Bm25Index


def index_of(*texts: str) -> Bm25Index[int]:
    index: Bm25Index[int] = Bm25Index()
    for number, text in enumerate(texts):
        index.add(number, text)
    return index


def order(question: str, *texts: str) -> list[int]:
    scores = index_of(*texts).scores(question)
    return sorted(scores, key=lambda number: -scores[number])


def test_only_texts_that_share_a_word_are_found() -> None:
    assert order("where is my bicycle", "the blue bicycle is in the shed", "tea from Hangzhou") == [0]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    assert order("project oolong", "project alpha", "project beta", "oolong notes", "project gamma")[0] == 2


def test_a_short_text_beats_a_long_one_that_says_it_once() -> None:
    assert order("oolong", "oolong " + "filler words go here " * 20, "oolong tea") == [1, 0]


def test_repeating_a_word_helps_less_and_less() -> None:
    scores = index_of("tea cup pot", "tea tea tea cup pot").scores("tea")
    assert scores[0] < scores[1] < 2.2 * scores[0]


def test_forms_of_a_word_meet() -> None:
    assert order("planned meetings", "the meeting plan", "a recipe") == [0]


def test_chinese_is_found_without_spaces() -> None:
    assert order("我住在哪里,杭州吗", "用户住在杭州", "用户喜欢乌龙茶") == [0]


@pytest.mark.parametrize("question", ["", "the of and", "!?"])
def test_a_question_without_words_finds_nothing(question: str) -> None:
    assert order(question, "tea") == []


def test_no_texts_and_empty_texts_are_fine() -> None:
    assert order("tea") == []
    assert order("tea", "", "tea") == [1]


def test_changed_and_removed_texts_count_as_if_they_had_never_been_there() -> None:
    changed = index_of("tea from Hangzhou", "coffee", "old tea")
    changed.add(1, "tea pot")
    changed.remove(2)
    changed.remove(7)
    assert len(changed) == 2
    assert 1 in changed
    assert 2 not in changed
    assert changed.scores("tea hangzhou coffee old") == index_of("tea from Hangzhou", "tea pot").scores("tea hangzhou")


def test_texts_that_change_all_the_time_do_not_pile_up() -> None:
    index = index_of(*[f"note {number}" for number in range(10)])
    for version in range(3_000):
        index.add(3, f"version {version} of the tea list")
    assert len(index._keys) < 1_100
    assert len(index._occurrences) < 1_200
    assert index.scores("tea") == index_of(*[""] * 9, "version 1 of the tea list").scores("") | index.scores("list")
    assert list(index.scores("note version 2999")) == [0, 1, 2, 4, 5, 6, 7, 8, 9, 3]


def test_a_word_that_fills_a_text_does_not_spill_over() -> None:
    index = index_of("tea " * 66_000, "tea")
    assert set(index.scores("tea")) == {0, 1}
    assert 1.0 < index.scores("tea")[0] / index.scores("tea")[1] < 2.0


def test_which_words_led_there_is_known() -> None:
    shared = index_of("tea from Hangzhou", "coffee").shared_words("Hangzhou teas and coffee", [0, 1, 5])
    assert shared == {0: ["hangzhou", "tea"], 1: ["coffe"], 5: []}
