"""`Recall`: from a question to the memories that help with it, in up to four stages: scan, search, select, read."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from agent_core.errors import StorageError, StructuredOutputError
from agent_core.event import RecalledMemory
from agent_core.model.base import ChatModelBase
from agent_core.text import first_line, well_formed
from memory.agentic.folder import MemoryFolder
from memory.agentic.frontmatter import parse_header
from memory.agentic.hint import cut_text, memory_text
from memory.agentic.manifest import MAX_SELECTED, SELECTION_SCHEMA, Selection, read_selection, selection_messages
from memory.agentic.memory_file import BINARY, MemoryFile
from memory.agentic.parameters import Parameters

if TYPE_CHECKING:
    from memory.agentic.local_search import LocalSearch

_SHARE_OF_NEWEST = 4
"""Of the files that a model is offered, one in so many is there because it is new."""

StageListener = Callable[[str, float, str], None]
"""Told of each stage that is over: its name, the seconds that it took, a few words on what it gave."""


class _Choice(NamedTuple):
    """A file that is to be recalled, why, and its score where it has one."""

    file: MemoryFile
    reason: str
    score: float | None = None


class Recall:
    """One search for the memories of a folder that help with a question.

    Args:
        folder: where the memories are.
        local_search: narrows long lists down, and stands in for a model that cannot choose.
        parameters: what it may cost.
        model: chooses the files, unless the parameters name another.
        on_stage: told of each stage.
    """

    def __init__(
        self,
        folder: MemoryFolder,
        local_search: LocalSearch,
        parameters: Parameters,
        model: ChatModelBase,
        on_stage: StageListener,
    ) -> None:
        self._folder = folder
        self._local_search = local_search
        self._parameters = parameters
        self._model = parameters.retrieval_model or model
        self._on_stage = on_stage

    async def find(self, question: str) -> tuple[RecalledMemory, ...]:
        """The pinned memories, then those that help, best first. Without any file no model is asked.

        Raises:
            ModelError: the model could not be asked.
            StorageError: the folder cannot be listed, and nothing is known of it.
        """
        with self._stage("scan") as details:
            scan = await self._folder.scan()
            details.append(f"{_count(len(scan.files), 'file')}, {scan.headers_read} read")
            details += scan.problems
        if scan.problems and not scan.files:
            raise StorageError(scan.problems[0])
        files = [file for file in scan.files if file.is_readable]
        pinned = [file for file in files if file.is_pinned][:MAX_SELECTED]
        others = [file for file in files if file not in pinned] if pinned else files
        choices = [_Choice(file, "pinned") for file in pinned]
        if others:
            choices += await self._choose(question, others)
        if not choices:
            return ()
        with self._stage("read") as details:
            return tuple([memory async for memory in self._read(choices, details)])

    async def _choose(self, question: str, files: Sequence[MemoryFile]) -> list[_Choice]:
        """Have the model choose; local search where no model is to be asked, or where it cannot give a list."""
        if self._parameters.retrieval_selector == "local":
            return await self._find_locally(question, files)
        offered = await self._narrow(question, files)
        if not offered:
            return []
        with self._stage("select") as details:
            try:
                selection, tokens = await self._ask(question, offered)
            except StructuredOutputError as error:
                details.append(f"local search instead of {self._model.model}: {first_line(str(error))}")
            else:
                details += _selection_details(selection, len(offered), tokens)
                return [_Choice(file, f"chosen by {self._model.model}") for file in selection.files]
        return await self._find_locally(question, files)

    async def _narrow(self, question: str, files: Sequence[MemoryFile]) -> Sequence[MemoryFile]:
        """As many files as the model is offered: those that local search finds, and the newest."""
        limit = self._parameters.retrieval_max_files
        if limit is None or len(files) <= limit:
            return files
        if limit == 0:
            return []
        with self._stage("search") as details:
            found = await self._local_search.rank(question, files, limit - limit // _SHARE_OF_NEWEST)
            if not any(one.is_related for one in found):
                found = []
            likely = [*(one.file for one in found), *files[:limit]]
            offered = list({file.path: file for file in likely}.values())[:limit]
            details.append(f"{len(offered)} files for the model to choose from")
            details += filter(None, [self._local_search.remark])
        return offered

    async def _find_locally(self, question: str, files: Sequence[MemoryFile]) -> list[_Choice]:
        with self._stage("search") as details:
            ranked = await self._local_search.rank(question, files, MAX_SELECTED)
            found = [one for one in ranked if one.is_related]
            details.append(f"{len(found)} of {_count(len(files), 'file')} found")
            details += filter(None, [self._local_search.remark])
        return [_Choice(file, f"found by local search: {why}", score) for file, score, _, why in found]

    async def _ask(self, question: str, files: Sequence[MemoryFile]) -> tuple[Selection, str]:
        messages = selection_messages(
            question,
            files,
            self._parameters.retrieval_instructions,
            self._parameters.retrieval_max_tokens_per_frontmatter,
        )
        value, usage = await self._model.generate_structured(messages, SELECTION_SCHEMA)
        tokens = f"{usage.input_tokens} tokens in, {usage.output_tokens} out" if usage else ""
        return read_selection(value, files), tokens

    async def _read(self, choices: Iterable[_Choice], details: list[str]) -> AsyncIterator[RecalledMemory]:
        now = time.time()
        for file, reason, score in choices:
            try:
                text, badges = await self._folder.read(file.path)
            except OSError as error:
                details.append(f"{file.relative} could not be read: {error.strerror or error}")
                continue
            content = parse_header(text).body.strip() or file.summary
            if BINARY in badges or not content:
                details.append(f"{file.relative} holds no text")
                continue
            content = cut_text(content, self._parameters.retrieval_max_tokens_per_md)
            yield RecalledMemory(
                path=well_formed(file.path),
                content_hash=_hash(content),
                text=memory_text(file, content, now),
                reason=reason,
                score=score,
            )
            details.append(file.relative)

    @contextmanager
    def _stage(self, name: str) -> Iterator[list[str]]:
        """Time a stage; what is put into the list is told with it. A stage that fails is not over."""
        details: list[str] = []
        started = time.perf_counter()
        yield details
        self._on_stage(name, time.perf_counter() - started, "; ".join(details))


def _selection_details(selection: Selection, offered: int, tokens: str) -> list[str]:
    names = _names(selection.files)
    details = [f"{len(selection.files)} of {_count(offered, 'file')} chosen" + (f": {names}" if names else "")]
    if selection.unknown:
        details.append(f"not on the list, left out: {', '.join(first_line(name, 80) for name in selection.unknown)}")
    return [*details, tokens] if tokens else details


def _names(files: Iterable[MemoryFile]) -> str:
    return ", ".join(file.relative for file in files)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:12]
