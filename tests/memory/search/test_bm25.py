"""BM25: which documents fit a question, and how well."""

from __future__ import annotations

import pytest

from memory.search.bm25 import document, rank


def order(query: str, *texts: str) -> list[int]:
    return [number for number, _ in rank(query, [document(text) for text in texts])]


def test_only_documents_that_share_a_word_are_ranked() -> None:
    assert order("where is my bicycle", "the blue bicycle is in the shed", "tea from Hangzhou") == [0]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    assert order("project oolong", "project alpha", "project beta", "oolong notes", "project gamma")[0] == 2


def test_a_short_document_beats_a_long_one_that_says_it_once() -> None:
    assert order("oolong", "oolong " + "filler words go here " * 20, "oolong tea") == [1, 0]


def test_repeating_a_word_helps_less_and_less() -> None:
    (_, once), (_, often) = sorted(rank("tea", [document("tea cup pot"), document("tea tea tea cup pot")]))
    assert once < often < 2.2 * once


def test_forms_of_a_word_meet() -> None:
    assert order("planned meetings", "the meeting plan", "a recipe") == [0]


def test_chinese_is_found_without_spaces() -> None:
    assert order("我住在哪里,杭州吗", "用户住在杭州", "用户喜欢乌龙茶") == [0]


def test_ties_keep_the_order_of_the_documents() -> None:
    assert order("tea", "tea one", "tea two", "tea six") == [0, 1, 2]


@pytest.mark.parametrize("query", ["", "the of and", "!?"])
def test_a_question_without_words_finds_nothing(query: str) -> None:
    assert order(query, "tea") == []


def test_no_documents_and_empty_documents_are_fine() -> None:
    assert rank("tea", []) == []
    assert order("tea", "", "tea") == [1]
