"""What nothing but meaning can find, with the bundled embedder."""

from __future__ import annotations

import pytest

from agent_core.words import tokenize
from memory.search import Embedder, HybridSearch, Passage
from tests.memory.search.paraphrases import CHINESE, ENGLISH

Pairs = list[tuple[str, str]]

both_languages = pytest.mark.parametrize("pairs", [ENGLISH, CHINESE], ids=["English", "Chinese"])


@both_languages
def test_the_pairs_share_hardly_a_word(pairs: Pairs) -> None:
    assert len(pairs) >= 30
    sharing = [pair for pair in pairs if set(tokenize(pair[0])) & set(tokenize(pair[1]))]
    assert len(sharing) <= 2


@both_languages
def test_nine_of_ten_facts_are_among_the_first_five(pairs: Pairs, bundled_embedder: Embedder) -> None:
    search: HybridSearch[int] = HybridSearch(bundled_embedder)
    search.add(Passage(number, fact) for number, (fact, _) in enumerate(pairs))
    assert search.wait_embedded(100)
    found = [number in [hit.key for hit in search.search(question, 5)] for number, (_, question) in enumerate(pairs)]
    search.close()
    assert sum(found) / len(found) >= 0.9


@both_languages
def test_most_answers_are_told_from_talk_and_most_talk_from_answers(pairs: Pairs, bundled_embedder: Embedder) -> None:
    search: HybridSearch[int] = HybridSearch(bundled_embedder)
    search.add(Passage(number, fact) for number, (fact, _) in enumerate(pairs))
    assert search.wait_embedded(100)
    related = [
        any(hit.is_related and hit.key == number for hit in search.search(question, len(pairs)))
        for number, (_, question) in enumerate(pairs)
    ]
    talk = ["hello there", "thanks!", "go on please", "what is 12 times 9?", "谢谢", "你好啊", "再见"]
    unrelated = [not any(hit.is_related for hit in search.search(text, len(pairs))) for text in talk]
    search.close()
    assert sum(related) / len(related) >= 0.7
    assert sum(unrelated) / len(unrelated) >= 0.7
