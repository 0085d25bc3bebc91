"""What is embedded of a text, and what is accepted as a vector."""

from __future__ import annotations

import numpy as np
import pytest

from agent_core.embedding import EmbeddingModelBase
from agent_core.errors import ModelError
from agent_core.tokens import estimate_tokens
from memory.search.embedder import MAX_TOKENS, dimensions_of, embeddable, unit_rows


@pytest.mark.parametrize(
    ("text", "embedded"),
    [
        ("  two\n\nlines\t", "two lines"),
        ("before\0after", "before after"),
        ("lone \ud83d surrogate", "lone � surrogate"),
        ("", ""),
        (" \n\0", ""),
    ],
)
def test_a_text_becomes_one_clean_line(text: str, embedded: str) -> None:
    assert embeddable(text) == embedded


@pytest.mark.parametrize(
    "text", ["word " * 10_000, "茶" * 10_000, "tea 茶 " * 10_000, "x" * 1_000_000, "👩‍👩‍👧" * 1_000]
)
def test_of_a_long_text_the_beginning_is_embedded(text: str) -> None:
    start = embeddable(text)
    assert text.startswith(start.removesuffix("…"))
    assert MAX_TOKENS * 0.6 < estimate_tokens(start) <= MAX_TOKENS + 1


def test_rows_are_scaled_to_length_one() -> None:
    rows = unit_rows([[3.0, 4.0], [0.0, 0.1]], 2, 2)
    assert rows.dtype == np.float32
    assert rows.tolist() == [pytest.approx([0.6, 0.8]), pytest.approx([0.0, 1.0])]


@pytest.mark.parametrize(
    "answer",
    [
        [[1.0, 0.0]],
        [[1.0], [1.0]],
        [1.0, 2.0],
        [[1.0, float("nan")], [1.0, 0.0]],
        [[1.0, float("inf")], [1.0, 0.0]],
        [[0.0, 0.0], [1.0, 0.0]],
        [[1.0, 0.0], [1.0]],
        [["a", "b"], ["c", "d"]],
        None,
    ],
)
def test_what_is_no_vector_is_an_error(answer: object) -> None:
    with pytest.raises(ModelError, match="the embedding model gave"):
        unit_rows(answer, 2, 2)


@pytest.mark.parametrize("answer", [None, [], [None], [[]], {}, [1.0]])
async def test_a_model_that_gives_no_vector_to_measure_is_an_error(answer: object) -> None:
    class Odd(EmbeddingModelBase):
        model = "odd"

        async def embed(self, texts: object) -> object:
            return answer

    with pytest.raises(ModelError, match="the embedding model odd gave no vector"):
        await dimensions_of(Odd())
