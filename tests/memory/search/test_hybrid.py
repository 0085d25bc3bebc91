"""Passages found by their words and by their meaning."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from agent_core.errors import ModelUnreachable
from memory.search import HybridSearch, Passage, Progress, VectorCache
from tests.memory.search.embedders import Meanings

CONCEPTS = {
    "budgerigars": "bird",
    "parrots": "bird",
    "flat": "house",
    "apartment": "house",
    "bicycle": "wheels",
    "bike": "wheels",
}


@pytest.fixture
def embedder() -> Meanings:
    return Meanings(CONCEPTS)


@pytest.fixture
def search(embedder: Meanings) -> Iterator[HybridSearch[str]]:
    search: HybridSearch[str] = HybridSearch(embedder)
    yield search
    embedder.is_open.set()
    search.close()


def by_words(**texts: str) -> HybridSearch[str]:
    search: HybridSearch[str] = HybridSearch()
    search.add(Passage(key, text) for key, text in texts.items())
    return search


def keys(search: HybridSearch[str], question: str, limit: int = 9) -> list[str]:
    return [hit.key for hit in search.search(question, limit)]


def test_without_an_embedder_words_find() -> None:
    search = by_words(tea="Oolong tea at four", home="A flat in Hangzhou")
    (hit,) = search.search("when is tea?", 5)
    assert (hit.key, hit.score, hit.semantic, hit.is_related, hit.why) == ("tea", 1.0, None, True, "shares tea")
    assert hit.lexical > 0
    assert search.progress() == Progress(2, 0)
    assert search.wait_embedded(0)


def test_the_words_are_told_as_they_were_asked() -> None:
    search = by_words(plan="the meeting was planned for Hangzhou 会议安排")
    (hit,) = search.search("Meetings, planning & 会议 in Berlin?", 1)
    assert hit.why == "shares Meetings, planning, 会议"


def test_a_passage_next_to_the_one_with_the_words_is_found() -> None:
    search: HybridSearch[str] = HybridSearch()
    search.add(
        [
            Passage("question", "When is the dentist?", "talk", 1),
            Passage("answer", "On Monday at nine.", "talk", 2),
            Passage("elsewhere", "On Monday at nine.", "other", 3),
        ]
    )
    first, second = search.search("the dentist", 9)
    assert (first.key, second.key) == ("question", "answer")
    assert second.lexical == pytest.approx(first.lexical / 2)
    assert second.why == "stands next to one that shares words"


def test_a_passage_is_replaced_moved_and_removed() -> None:
    search = by_words(tea="Oolong", home="Hangzhou")
    search.add([Passage("tea", "Sencha", "group")])
    assert keys(search, "oolong") == []
    assert keys(search, "sencha") == ["tea"]
    search.remove(["tea", "never there"])
    assert (len(search), "tea" in search, "home" in search) == (1, False, True)
    assert keys(search, "sencha") == []


def test_a_limit_and_a_filter_hold() -> None:
    search = by_words(a="tea", b="tea", c="tea and more tea")
    assert keys(search, "tea", 2) == ["c", "a"]
    assert keys(search, "tea", 0) == []
    assert [hit.key for hit in search.search("tea", 9, only={"b", "x"}.__contains__)] == ["b"]


def test_meaning_finds_what_shares_no_word(search: HybridSearch[str]) -> None:
    search.add([Passage("pets", "Two budgerigars."), Passage("home", "A flat."), Passage("ride", "By bicycle.")])
    assert search.wait_embedded(60)
    first, *others = search.search("any parrots?", 9)
    assert (first.key, first.semantic, first.is_related, first.why) == ("pets", 1.0, True, "meaning 1.00")
    assert [hit.is_related for hit in others] == [False, False]
    assert search.progress() == Progress(3, 3)


def test_words_and_meaning_together_beat_either(search: HybridSearch[str]) -> None:
    search.add(
        [Passage("words", "the blue sky"), Passage("meaning", "budgerigars"), Passage("both", "blue budgerigars")]
    )
    assert search.wait_embedded(60)
    assert keys(search, "blue parrots")[0] == "both"


def test_a_new_passage_is_found_by_its_words_before_it_is_embedded(
    search: HybridSearch[str], embedder: Meanings
) -> None:
    search.add([Passage("old", "A flat with a garden")])
    assert search.wait_embedded(60)
    assert keys(search, "apartment") == ["old"]
    embedder.is_open.clear()
    search.add([Passage("new", "A garden and budgerigars")])
    assert not search.wait_embedded(0)
    found = {hit.key: hit.semantic for hit in search.search("garden", 9)}
    assert found["new"] is None
    assert found["old"] is not None
    embedder.is_open.set()
    assert search.wait_embedded(60)
    assert keys(search, "parrots")[0] == "new"


def test_what_changes_or_goes_while_it_is_embedded_leaves_no_trace(
    search: HybridSearch[str], embedder: Meanings
) -> None:
    embedder.is_open.clear()
    search.add([Passage("a", "budgerigars"), Passage("b", "budgerigars"), Passage("c", "budgerigars")])
    search.add([Passage("a", "A flat.")])
    search.add([Passage("b", "taken as given", vector=[1.0, *[0.0] * 7])])
    search.remove(["c"])
    embedder.is_open.set()
    assert search.wait_embedded(60)
    assert {hit.key: hit.semantic for hit in search.search("parrots", 9)} == {"a": 0.0, "b": 0.0}
    assert search.progress() == Progress(2, 2)


def test_many_passages_are_embedded_a_few_at_a_time(search: HybridSearch[str], embedder: Meanings) -> None:
    search.add(Passage(str(number), f"budgerigars {number}") for number in range(50))
    assert search.wait_embedded(60)
    assert search.progress() == Progress(50, 50)
    assert len(embedder.passages) == 50


def test_vectors_that_are_known_are_taken_as_they_are(search: HybridSearch[str], embedder: Meanings) -> None:
    parrot = embedder.embed_queries(["parrots"])[0]
    search.add([Passage("pets", "zwei Wellensittiche", vector=[3.0 * number for number in parrot])])
    (hit,) = search.search("¿loros?", 1, vector=parrot)
    assert (hit.semantic, hit.is_related) == (1.0, True)
    with pytest.raises(ValueError, match="a vector of 2 numbers among vectors of 8"):
        search.add([Passage("pets", "other", vector=[1.0, 2.0])])
    assert keys(search, "Wellensittiche") == ["pets"]
    assert embedder.passages == []


def test_given_vectors_need_no_embedder() -> None:
    search: HybridSearch[int] = HybridSearch()
    search.add([Passage(1, "tea", vector=[1.0, 0.0]), Passage(2, "coffee", vector=[0.0, 1.0])])
    assert [hit.key for hit in search.search("?", 2, vector=[0.1, 2.0])] == [2, 1]


def test_an_embedder_that_fails_costs_only_the_meaning(search: HybridSearch[str], embedder: Meanings) -> None:
    embedder.fault = ModelUnreachable("no connection to the embedding model")
    search.add([Passage("pets", "Two budgerigars."), Passage("home", "A flat.")])
    assert search.wait_embedded(60)
    assert keys(search, "budgerigars") == ["pets"]
    assert search.progress() == Progress(2, 0, "no connection to the embedding model")
    # The next search tries again.
    embedder.fault = None
    search.search("anything", 1)
    assert search.wait_embedded(60)
    assert search.progress() == Progress(2, 2)
    embedder.fault = RuntimeError()
    assert keys(search, "budgerigars") == ["pets"]
    assert search.progress().problem == "RuntimeError"
    embedder.fault = None
    assert keys(search, "parrots")[0] == "pets"
    assert search.progress().problem == ""


def test_an_embedder_that_gives_something_else_costs_only_the_meaning(
    search: HybridSearch[str], monkeypatch: pytest.MonkeyPatch, embedder: Meanings
) -> None:
    search.add([Passage("pets", "budgerigars")])
    assert search.wait_embedded(60)
    monkeypatch.setattr(embedder, "_vector", lambda text: np.ones(3))
    search.add([Passage("home", "A flat.")])
    assert search.wait_embedded(60)
    assert keys(search, "flat") == ["home"]
    assert search.progress() == Progress(2, 1, "the embedding model gave (1, 3) numbers instead of (1, 8)")


def test_passages_that_cannot_be_embedded_do_not_hold_up_the_others() -> None:
    class Picky(Meanings):
        def embed_passages(self, texts):
            if any("poison" in text for text in texts):
                raise RuntimeError("poison")
            return super().embed_passages(texts)

    search: HybridSearch[int] = HybridSearch(Picky(CONCEPTS))
    search.add(Passage(number, "budgerigars" if number % 3 else "poison") for number in range(12))
    for _ in range(50):
        assert search.wait_embedded(60)
        search.search("parrots", 1)
    assert search.wait_embedded(60)
    assert search.progress() == Progress(12, 8, "poison")
    search.close()


def test_vectors_of_an_earlier_run_are_there_at_once(tmp_path: Path) -> None:
    for run in range(2):
        embedder, cache = Meanings(CONCEPTS), VectorCache(tmp_path / "vectors.db")
        search: HybridSearch[str] = HybridSearch(embedder, cache)
        search.add([Passage("pets", "Two budgerigars."), Passage("twins", "Two budgerigars.")])
        if run == 0:
            assert search.wait_embedded(60)
        assert search.progress() == Progress(2, 2)
        assert bool(embedder.passages) == (run == 0)
        search.close()
        cache.close()


def test_the_cache_forgets_what_is_changed_or_removed_or_was_never_here(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.db")
    cache.put("meanings", {"deleted while the program was off": [1.0] * 8})
    search: HybridSearch[str] = HybridSearch(Meanings(CONCEPTS), cache)
    texts = {"a": "budgerigars", "b": "A flat.", "c": "parrots"}
    search.add(Passage(key, text) for key, text in texts.items())
    assert search.wait_embedded(60)
    search.add([Passage("a", "A bicycle.")])
    search.remove(["b"])
    search.sweep()
    assert search.wait_embedded(60)
    kept = cache.get("meanings", [*texts.values(), "A bicycle.", "deleted while the program was off"])
    assert set(kept) == {"A bicycle.", "parrots"}
    search.close()
    cache.close()


def test_vectors_of_another_length_are_made_anew(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.db")
    cache.put("meanings", {"Two budgerigars.": [1.0, 2.0]})
    search: HybridSearch[str] = HybridSearch(Meanings(CONCEPTS), cache)
    search.add([Passage("pets", "Two budgerigars.")])
    assert search.wait_embedded(60)
    assert keys(search, "parrots") == ["pets"]
    search.close()
    cache.close()


@pytest.mark.parametrize("text", ["", " \n", "\0", "\ud800", "‮x", "a" * 1_000_000, "茶" * 1_000_000])
def test_odd_texts_are_taken(search: HybridSearch[str], text: str) -> None:
    search.add([Passage("odd", text), Passage("pets", "budgerigars")])
    assert search.wait_embedded(60)
    assert search.search(text, 2) is not None
    assert keys(search, "budgerigars")[0] == "pets"


def test_after_closing_what_is_there_is_still_found(search: HybridSearch[str]) -> None:
    search.add([Passage("pets", "budgerigars")])
    assert search.wait_embedded(60)
    search.close()
    search.add([Passage("home", "A flat.")])
    assert search.wait_embedded(60)
    assert keys(search, "parrots") == ["pets"]
    assert keys(search, "flat")[0] == "home"


def test_threads_may_add_remove_and_search_at_once(search: HybridSearch[str]) -> None:
    start = threading.Barrier(8)

    def work(worker: int) -> None:
        start.wait()
        for number in range(40):
            search.add([Passage(f"{worker}-{number}", f"budgerigars of {worker}", worker)])
            search.search("parrots", 5)
            if number % 2:
                search.remove([f"{worker}-{number}"])

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, worker) for worker in range(8)]:
            done.result()
    assert search.wait_embedded(60)
    assert search.progress() == Progress(160, 160)


def test_the_program_ends_while_passages_wait() -> None:
    """The batch in work is waited for, the others are not."""
    import subprocess
    import sys

    code = """
import threading
from memory.search import HybridSearch, Passage
from tests.memory.search.embedders import Meanings

class Counting(Meanings):
    def embed_passages(self, texts):
        print("batch", flush=True)
        started.set()
        return super().embed_passages(texts)

started = threading.Event()
embedder = Counting({"x": "x"})
embedder.is_open.clear()
search = HybridSearch(embedder)
search.add(Passage(number, f"x {number}") for number in range(1_000))
started.wait()
threading.Timer(0.2, embedder.is_open.set).start()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("batch") <= 3
