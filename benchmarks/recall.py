"""Evidence recall of local search over the dialogue turns of LoCoMo: which share of the turns that answer a question
is among the first 5 and 10 found.

    python -m benchmarks.recall locomo.json [--cache DIR]

The data (Maharana et al., ACL 2024; snap-research/locomo) may not be used commercially and is not part of this project.
Only questions of categories 1 to 4 whose evidence names turns that exist are counted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from platformdirs import user_cache_path

from memory.search import Embedder, HybridSearch, Passage, VectorCache, load_bundled_embedder
from memory.search.bm25 import Bm25Index
from memory.search.fusion import fuse
from memory.search.vectors import VectorMatrix

if TYPE_CHECKING:
    from memory.search.vectors import Vector

CUTS = (5, 10)
ANSWERABLE = (1, 2, 3, 4)

Rank = Callable[[str], list[str]]
"""From a question to the ids of turns, best first, `CUTS[-1]` at least."""


class Turn(NamedTuple):
    id: str
    session: int
    text: str


class Question(NamedTuple):
    text: str
    evidence: frozenset[str]


class Conversation(NamedTuple):
    name: str
    turns: list[Turn]
    questions: list[Question]


def read(path: Path) -> list[Conversation]:
    """The conversations of a LoCoMo file."""
    return [_conversation(sample) for sample in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(sample: dict[str, Any]) -> Conversation:
    sessions = {
        int(match[1]): turns for name, turns in sample["conversation"].items() if (match := _SESSION.match(name))
    }
    turns = [Turn(turn["dia_id"], number, _text(turn)) for number in sorted(sessions) for turn in sessions[number]]
    known = {turn.id for turn in turns}
    questions = [
        Question(qa["question"], evidence)
        for qa in sample["qa"]
        if qa["category"] in ANSWERABLE and (evidence := known.intersection(_TURN.findall(" ".join(qa["evidence"]))))
    ]
    return Conversation(sample["sample_id"], turns, questions)


_SESSION = re.compile(r"session_(\d+)$")
_TURN = re.compile(r"D\d+:\d+")


def _text(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [image: {caption}]" if caption else "")


class Vectors:
    """Vectors of passages and questions, kept between runs."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    def of_passages(self, texts: Sequence[str]) -> list[Vector]:
        return self._of(texts, self._embedder.model_id, self._embedder.embed_passages)

    def of_questions(self, texts: Sequence[str]) -> list[Vector]:
        return self._of(texts, f"{self._embedder.model_id}:question", self._embedder.embed_queries)

    def _of(self, texts: Sequence[str], model_id: str, embed: Callable[[Sequence[str]], Any]) -> list[Vector]:
        known = self._cache.get(model_id, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(missing), 32):
            batch = missing[start : start + 32]
            made = dict(zip(batch, embed(batch), strict=True))
            self._cache.put(model_id, made)
            known |= made
            print(f"\rembedding: {start + len(batch)} of {len(missing)}", end="", file=sys.stderr, flush=True)
        if missing:
            print(file=sys.stderr)
        return [known[text] for text in texts]


def rankings(conversation: Conversation, vectors: Vectors | None) -> dict[str, Rank]:
    """The ways of searching that are compared, by name."""
    words: Bm25Index[str] = Bm25Index()
    for turn in conversation.turns:
        words.add(turn.id, turn.text)
    ways: dict[str, Rank] = {"BM25": lambda question: _best(words.scores(question))}
    if vectors is None:
        shipped: HybridSearch[str] = HybridSearch()
        shipped.add(Passage(turn.id, turn.text, turn.session) for turn in conversation.turns)
        return ways | {"shipped search, no embedder": lambda question: _found(shipped, question, None)}
    return ways | _with_vectors(conversation, words, vectors)


def _with_vectors(conversation: Conversation, words: Bm25Index[str], vectors: Vectors) -> dict[str, Rank]:
    texts = [turn.text for turn in conversation.turns]
    questions = [question.text for question in conversation.questions]
    asked = dict(zip(questions, vectors.of_questions(questions), strict=True))
    matrix: VectorMatrix[str] = VectorMatrix()
    shipped: HybridSearch[str] = HybridSearch()
    for turn, vector in zip(conversation.turns, vectors.of_passages(texts), strict=True):
        matrix.put(turn.id, vector)
        shipped.add([Passage(turn.id, turn.text, turn.session, vector=vector)])

    def meaning(question: str) -> dict[str, float]:
        return matrix.nearest(asked[question], len(matrix))

    return {
        "embedder": lambda question: _best(meaning(question)),
        "min-max fusion": lambda question: _best(fuse(words.scores(question), meaning(question))),
        "shipped search": lambda question: _found(shipped, question, asked[question]),
    }


def _best(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda key: -scores[key])[: CUTS[-1]]


def _found(search: HybridSearch[str], question: str, vector: Vector | None) -> list[str]:
    return [hit.key for hit in search.search(question, CUTS[-1], vector=vector)]


def recall(questions: Sequence[Question], rank: Rank) -> list[list[float]]:
    """For each question, the share of its evidence within each cut."""
    found = [(question.evidence, rank(question.text)) for question in questions]
    return [[len(evidence.intersection(ids[:cut])) / len(evidence) for cut in CUTS] for evidence, ids in found]


def table(conversations: Sequence[Conversation], vectors: Vectors | None) -> str:
    """All figures as text: a row for each way of searching, a column for each conversation and one for all."""
    shares: dict[str, list[list[list[float]]]] = {}
    for conversation in conversations:
        for way, rank in rankings(conversation, vectors).items():
            shares.setdefault(way, []).append(recall(conversation.questions, rank))
    heads = [*(conversation.name for conversation in conversations), "all"]
    counts = [*(len(conversation.questions) for conversation in conversations)]
    rows = [["recall@5/@10", *heads], ["questions", *map(str, [*counts, sum(counts)])]]
    for way, by_conversation in shares.items():
        columns = [*by_conversation, [one for many in by_conversation for one in many]]
        rows.append([way, *(_cell(column) for column in columns)])
    return "\n".join("  ".join(f"{cell:<{28 if not n else 11}}" for n, cell in enumerate(row)).rstrip() for row in rows)


def _cell(shares: Sequence[Sequence[float]]) -> str:
    return " / ".join(f"{sum(column) / len(column):.3f}".lstrip("0") for column in zip(*shares, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a LoCoMo file, for example locomo10.json")
    parser.add_argument("--cache", type=Path, help="folder for vectors (default: the platform's cache folder)")
    given = parser.parse_args()
    embedder, reason = load_bundled_embedder()
    cache = VectorCache((given.cache or user_cache_path("mnemoscope")) / "benchmark-vectors.db")
    if embedder is None:
        print(reason, file=sys.stderr)
    print(table(read(given.data), Vectors(embedder, cache) if embedder else None))
    cache.close()


if __name__ == "__main__":
    main()
