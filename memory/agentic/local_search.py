"""Local search over what the listing of a memory folder tells: no model, no reading of files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memory.agentic.memory_file import MemoryFile
from memory.search import HybridSearch, Passage


class LocalSearch:
    """Ranks memory files by the words of their name, path, description and first line; keeps its counts of words."""

    def __init__(self) -> None:
        self._search: HybridSearch[str] = HybridSearch()
        self._versions: dict[str, str] = {}

    async def rank(self, question: str, files: Sequence[MemoryFile]) -> list[tuple[MemoryFile, float]]:
        """The files that have a word in common with `question`, with their scores, best first."""
        # In a thread: the first look at twenty thousand files takes long enough to be felt.
        return await asyncio.to_thread(self._rank, question, files)

    def _rank(self, question: str, files: Sequence[MemoryFile]) -> list[tuple[MemoryFile, float]]:
        by_path = {file.path: file for file in files}
        self._search.remove(path for path in list(self._versions) if path not in by_path)
        self._search.add(_passage(file) for file in files if self._versions.get(file.path) != file.version)
        self._versions = {file.path: file.version for file in files}
        return [(by_path[hit.key], hit.score) for hit in self._search.search(question, len(files))]


def _passage(file: MemoryFile) -> Passage[str]:
    text = f"{file.name}\n{file.relative.replace('_', ' ')}\n{file.description}\n{file.excerpt}"
    return Passage(file.path, text)
