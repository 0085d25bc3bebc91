"""Local search over the files of a memory folder: no model is asked, nothing leaves this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memory.agentic.folder import MemoryFolder
from memory.agentic.frontmatter import parse_header
from memory.agentic.memory_file import MemoryFile
from memory.agentic.parameters import BUNDLED, Parameters
from memory.search import HybridSearch, Loaded, Passage, VectorCache, load_bundled_embedder

_READ_AT_ONCE = 64


class FoundFile(NamedTuple):
    """A file that fits a question; see `memory.search.Hit`."""

    file: MemoryFile
    score: float
    is_related: bool
    why: str


class LocalSearch:
    """Finds files by their name, path, description and whole body: by words, and by meaning where there is an embedder.

    A file is read when it is new or has changed. May serve several replies at once.

    Args:
        folder: where the files are.
        load_embedder: gives the embedder, when it is first needed; words alone count when None.
        cache: keeps vectors between runs.
    """

    def __init__(
        self,
        folder: MemoryFolder,
        load_embedder: Callable[[], Loaded] | None = None,
        cache: VectorCache | None = None,
    ) -> None:
        self._folder = folder
        self._load_embedder = load_embedder
        self._cache = cache
        self._search: HybridSearch[str] | None = None
        self._versions: dict[str, str] = {}
        self._without_embedder = ""
        self._is_swept = False

    @classmethod
    def of(cls, folder: MemoryFolder, parameters: Parameters) -> LocalSearch:
        """Local search as the parameters want it."""
        embedder, vectors = parameters.retrieval_embedder, parameters.retrieval_vectors
        cache = VectorCache(vectors) if vectors is not None else None
        if embedder is None:
            return cls(folder)
        return cls(folder, load_bundled_embedder if embedder == BUNDLED else lambda: Loaded(embedder), cache)

    async def rank(
        self, question: str, files: Sequence[MemoryFile], limit: int, patience: float = 0.0
    ) -> list[FoundFile]:
        """The files that fit best, the best first.

        Args:
            question: what is looked for.
            files: all files of the folder that may be found.
            limit: of files found.
            patience: seconds to wait, at most, until new files can be found by their meaning too.
        """
        search = self._search or await self._start()
        by_path = await asyncio.to_thread(_by_path, files)
        await self._bring_up_to_date(search, by_path)
        if patience:
            await asyncio.to_thread(search.wait_embedded, patience)
        hits = await asyncio.to_thread(search.search, question, limit, only=by_path.__contains__)
        return [FoundFile(by_path[hit.key], hit.score, hit.is_related, hit.why) for hit in hits]

    @property
    def remark(self) -> str:
        """What keeps it from finding all that it could, a few words for people; empty when nothing does."""
        if self._without_embedder:
            return f"by words alone: {self._without_embedder}"
        progress = self._search.progress() if self._search is not None else None
        if progress is None or self._load_embedder is None or progress.embedded == progress.passages:
            return ""
        problem = f": {progress.problem}" if progress.problem else " so far"
        return f"{progress.embedded} of {progress.passages} files by meaning{problem}"

    def close(self) -> None:
        """Embed no more, and let go of the file of vectors."""
        if self._search is not None:
            self._search.close()
        if self._cache is not None:
            self._cache.close()

    async def _start(self) -> HybridSearch[str]:
        loaded = await asyncio.to_thread(self._load_embedder) if self._load_embedder is not None else Loaded(None)
        if self._search is None:
            # Of two that begin at the same time, the first one's counts.
            self._without_embedder = loaded.reason
            self._search = HybridSearch(loaded.embedder, self._cache)
        return self._search

    async def _bring_up_to_date(self, search: HybridSearch[str], files: Mapping[str, MemoryFile]) -> None:
        """Read what has changed; what another search is reading at this moment is left to that one."""
        gone, changed = await asyncio.to_thread(_compare, dict(self._versions), files)
        for path in gone:
            self._versions.pop(path, None)
        await asyncio.to_thread(search.remove, gone)
        for start in range(0, len(changed), _READ_AT_ONCE):
            batch = [file for file in changed[start : start + _READ_AT_ONCE] if self._is_changed(file)]
            self._versions |= {file.path: file.version for file in batch}
            try:
                passages = await asyncio.gather(*map(self._read, batch))
                await asyncio.to_thread(search.add, passages)
            except BaseException:
                # Cancelled. Whoever searches next reads them.
                for file in batch:
                    self._versions.pop(file.path, None)
                raise
        if not self._is_swept:
            self._is_swept = True
            await asyncio.to_thread(search.sweep)

    def _is_changed(self, file: MemoryFile) -> bool:
        return self._versions.get(file.path) != file.version

    async def _read(self, file: MemoryFile) -> Passage[str]:
        """What a file is found by. One that cannot be read is found by what its listing tells, and tried again."""
        try:
            text, _ = await self._folder.read_listed(file)
        except OSError:
            self._versions.pop(file.path, None)
            body = file.excerpt
        else:
            body = parse_header(text).body
        # What tells most comes first: the embedder looks at the beginning only.
        words = [file.name, file.description, body, file.relative.replace("_", " ")]
        return Passage(file.path, "\n".join(words))


def _by_path(files: Sequence[MemoryFile]) -> dict[str, MemoryFile]:
    return {file.path: file for file in files}


def _compare(known: Mapping[str, str], files: Mapping[str, MemoryFile]) -> tuple[list[str], list[MemoryFile]]:
    """The paths where there is nothing any more, and the files that are not of the known version."""
    gone = [path for path in known if path not in files]
    return gone, [file for path, file in files.items() if known.get(path) != file.version]
