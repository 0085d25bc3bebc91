"""Local search over what the listing of a memory folder tells: no model, no reading of files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memory.agentic.memory_file import MemoryFile
from memory.search.bm25 import Document, document, rank


class LocalSearch:
    """Ranks memory files by the words of their name, path, description and first line; keeps its counts of words."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[str, Document]] = {}

    async def rank(self, question: str, files: Sequence[MemoryFile]) -> list[tuple[MemoryFile, float]]:
        """The files that have a word in common with `question`, with their scores, best first."""
        # In a thread: the first look at twenty thousand files takes long enough to be felt.
        return await asyncio.to_thread(self._rank, question, files)

    def _rank(self, question: str, files: Sequence[MemoryFile]) -> list[tuple[MemoryFile, float]]:
        known = self._documents
        self._documents = {file.path: self._document(file, known) for file in files}
        ranked = rank(question, [counted for _, counted in self._documents.values()])
        return [(files[number], score) for number, score in ranked]

    def _document(self, file: MemoryFile, known: dict[str, tuple[str, Document]]) -> tuple[str, Document]:
        entry = known.get(file.path)
        if entry is not None and entry[0] == file.version:
            return entry
        text = f"{file.name}\n{file.relative.replace('_', ' ')}\n{file.description}\n{file.excerpt}"
        return file.version, document(text)
