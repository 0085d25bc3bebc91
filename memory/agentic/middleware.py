"""`AgenticMemoryMiddleware`: a long-term memory of Markdown files that the model reads and writes by itself."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from agent_core.event import Event, IndexRead, Noticed, PromptPart, RecalledMemory
from agent_core.history import open_end
from agent_core.message import Msg
from agent_core.middleware import Kwargs, MiddlewareBase, StreamHandler
from agent_core.permission import PermissionDecision
from agent_core.text import shorten
from agent_core.tokens import estimate_tokens
from agent_core.tool.backend import BackendBase
from agent_core.tool.local_backend import LocalBackend
from memory.agentic import parameters as settings
from memory.agentic.folder import INDEX_NAME, IndexFile
from memory.agentic.guard import Guard
from memory.agentic.index import FittedIndex, fit_index
from memory.agentic.instructions import memory_instructions
from memory.agentic.journal import Journal
from memory.agentic.placing import place
from memory.agentic.provenance import fence
from memory.agentic.recall import Recall, StageListener
from memory.agentic.recording import Recording
from memory.agentic.retrieval import Find, Retrieval, take_up, wait_for
from memory.agentic.watched_folder import WatchedFolder

if TYPE_CHECKING:
    from agent_core.agent import Agent
    from memory.agentic.book import MemoryBook
    from memory.agentic.local_search import LocalSearch

_NOTHING_LISTED = "(no memories yet)"
_NO_INDEX = "(no memories yet, and no index file)"
_QUESTION_LENGTH = 4_000
"""Characters of what the user said that memory is searched for."""


class AgenticMemoryMiddleware(MiddlewareBase):
    """Gives an agent a memory folder: instructions and index in its system prompt, recalled files as hints.

    One instance may serve several agents, also at the same time. Nothing is created: the folder and its files come to
    be when the model writes them.

    Args:
        workdir: the folder that the memory folder lies in.
        memory_dir: the memory folder's name in it.
        parameters: limits and ways of asking; may be replaced at any time, save for what local search is made of.
        backend: where `workdir` is; this machine when None. What it does not guarantee is told to the trace.
        history_dir: a folder of this machine that the history is kept in; beside the memory folder when None.

    Attributes:
        folder: the memory folder.
        journal: its history.
        recording: keeps the history; its `session_id` may be set.
    """

    Parameters = settings.Parameters

    def __init__(
        self,
        workdir: str | os.PathLike[str],
        memory_dir: str = "Memory",
        parameters: settings.Parameters | None = None,
        backend: BackendBase | None = None,
        history_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self.parameters = parameters or settings.Parameters()
        self.folder = WatchedFolder(workdir, memory_dir, backend or LocalBackend())
        self.journal = Journal(self.folder, kept_in=os.fspath(history_dir) if history_dir is not None else None)
        self.recording = Recording(self.folder, self.journal)
        self._guard = Guard(self.folder)
        self._book: MemoryBook | None = None
        self._local_search: LocalSearch | None = None
        self._fitted: tuple[tuple[str, int | None], FittedIndex] | None = None
        self._replies: dict[str | None, list[Retrieval]] = {}
        self._carried_over: WeakKeyDictionary[Agent, list[Retrieval]] = WeakKeyDictionary()
        self._index_told: WeakKeyDictionary[Agent, IndexRead] = WeakKeyDictionary()

    @property
    def book(self) -> MemoryBook:
        """What a person can do with this memory; its changes reach the traces of the agents too."""
        if self._book is None:
            # Imported late, for the start of the program does not need it.
            from memory.agentic.book import MemoryBook

            self._book = MemoryBook(self.folder, self.journal, self._get_local_search)
        return self._book

    async def on_system_prompt(self, agent: Agent, current_prompt: str) -> list[PromptPart]:
        """Append the instructions and, last, the index. The same bytes as long as MEMORY.md is the same."""
        self.recording.know(agent)
        self._tell_gaps(agent)
        index = await self.folder.read_index()
        fitted = await self._fit(index.text)
        # What a tool's result had a part in is data here too, as it is in a hint.
        told = fence(fitted.text, await self.recording.origin_of_index()) if fitted.text else ""
        self._tell_index(
            agent,
            index,
            IndexRead(
                path=index.path,
                found=index.found,
                text=fitted.text,
                lines=fitted.lines,
                injected_lines=fitted.injected_lines,
                tokens=estimate_tokens(fitted.text),
                cut_line=fitted.cut_line,
                is_fenced=told != fitted.text,
            ),
        )
        folder = await self.folder.root()
        instructions = memory_instructions(folder, index.path, agent.toolkit.names, self.parameters.memory_instructions)
        nothing = _NOTHING_LISTED if index.found else _NO_INDEX
        shown = told or ("(not shown)" if fitted.lines or index.badge else nothing)
        return [
            _part("instructions", folder, "memory instructions", instructions),
            _part("index", index.path, INDEX_NAME, f"## Index of the memory ({INDEX_NAME})\n{shown}"),
        ]

    async def on_reply(self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler) -> AsyncIterator[Event]:
        """Search in the background while the reply runs; what comes too late goes into the agent's next reply."""
        reply_id = agent.state.reply_id
        retrievals = self._replies[reply_id] = []
        is_cancelled = False
        self.recording.begin_reply(agent, input_kwargs["inputs"])
        try:
            retrievals += await self._take_up(agent)
            retrievals += await self._ask(agent, input_kwargs["inputs"], retrievals)
            async for event in next_handler(**input_kwargs):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            is_cancelled = True
            raise
        finally:
            del self._replies[reply_id]
            self.recording.end_reply(reply_id)
            self._guard.end_reply(reply_id)
            await self._close(agent, retrievals, is_cancelled)

    async def on_reasoning(
        self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler
    ) -> AsyncIterator[Event]:
        """Before each model call, put in what the search has found by now."""
        number = input_kwargs["round"]
        retrievals = self._replies.get(agent.state.reply_id, [])
        if number == 1:
            await wait_for(retrievals, self._patience)
        for retrieval in retrievals:
            if retrieval.is_found:
                await place(agent, retrieval, number)
        async for event in next_handler(**input_kwargs):
            yield event

    async def on_check_permission(
        self, agent: Agent, input_kwargs: Kwargs, next_handler: Callable[..., Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        """Treat the memory folder as a scope of its own, and have what is risky asked about."""
        decision = await next_handler(**input_kwargs)
        call, tool, arguments = (input_kwargs[name] for name in ("tool_call", "tool", "tool_input"))
        return await self._guard.decide(agent, call, tool, arguments, decision)

    async def on_acting(self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler) -> AsyncIterator[Event]:
        """Record what the call does to the memory."""
        call = input_kwargs["tool_call"]
        self._guard.note_permitted(agent.state.reply_id, call)
        async with self.recording.around(agent, call):
            async for event in next_handler(**input_kwargs):
                yield event

    async def aclose(self) -> None:
        """Stop what runs in the background. What was carried over is looked up again by whoever resumes the session."""
        await self.recording.aclose()
        for retrievals in list(self._carried_over.values()):
            for retrieval in retrievals:
                await retrieval.stop()
        if self._local_search is not None:
            self._local_search.close()
            self._local_search = None

    @property
    def _patience(self) -> float | None:
        """Seconds that the first model call waits for the search; None for as long as it takes."""
        return self.parameters.retrieval_grace if self.parameters.retrieval_async else None

    async def _fit(self, text: str) -> FittedIndex:
        """The part of the index that goes into the prompt; an index may be large, and hardly ever changes."""
        wanted = text, self.parameters.memory_max_tokens
        if self._fitted is None or self._fitted[0] != wanted:
            self._fitted = wanted, await asyncio.to_thread(fit_index, *wanted)
        return self._fitted[1]

    def _tell_index(self, agent: Agent, index: IndexFile, event: IndexRead) -> None:
        """Append the event, unless this agent has been told just that."""
        if self._index_told.get(agent) == event:
            return
        self._index_told[agent] = event
        reply_id = agent.state.reply_id
        agent.trace.append(replace(event, reply_id=reply_id))
        if index.badge:
            agent.trace.append(Noticed(text=f"{index.path}: {index.badge}", level="warning", reply_id=reply_id))

    def _tell_gaps(self, agent: Agent) -> None:
        """Say once in a session what the back end does not guarantee."""
        backend = self.folder.backend
        if not backend.guarantees.gaps:
            return
        text = f"Memory is on {backend.name}: {'; '.join(backend.guarantees.gaps)}."
        if all(event.text != text for event in agent.trace.of(Noticed)):
            agent.trace.append(Noticed(text=text))

    async def _take_up(self, agent: Agent) -> list[Retrieval]:
        """What earlier replies of this agent, also those of an earlier run of the program, have left to this one."""
        source = await self.folder.root()
        if agent not in self._carried_over:
            self._carried_over[agent] = take_up(source, agent.trace, agent.trace.append)
        waiting = [one for one in self._carried_over[agent] if not one.is_settled]
        self._carried_over[agent] = []
        for retrieval in waiting:
            retrieval.resume(self._finder(agent))
        return waiting

    async def _ask(self, agent: Agent, inputs: Sequence[Msg], waiting: Sequence[Retrieval]) -> list[Retrieval]:
        """Start the retrieval for what the user says, or for what is tried again; none when that is nothing."""
        reply_id = agent.state.reply_id
        asked = inputs or open_end([entry.msg for entry in await agent.memory.entries()])
        said = [msg.get_text_content() or "" for msg in asked if msg.role == "user"]
        question = shorten("\n".join(said).strip(), _QUESTION_LENGTH)
        if not question or (not inputs and question in {one.question for one in waiting}):
            return []
        retrieval = Retrieval(await self.folder.root(), question, reply_id, agent.trace.append, patience=self._patience)
        retrieval.start(self._finder(agent))
        return [retrieval]

    async def _close(self, agent: Agent, retrievals: Sequence[Retrieval], is_cancelled: bool) -> None:
        """Give each retrieval of a reply that is over its outcome, or hand it on."""
        for retrieval in retrievals:
            if retrieval.is_settled:
                continue
            if retrieval.is_carried_over or not (is_cancelled or self.parameters.retrieval_carry_over):
                await retrieval.cancel("late")
            elif is_cancelled:
                await retrieval.cancel()
            else:
                retrieval.carry_over()
                self._carried_over[agent].append(retrieval)

    def _finder(self, agent: Agent) -> Find:
        model = agent.model

        async def find(question: str, on_stage: StageListener) -> tuple[RecalledMemory, ...]:
            recall = Recall(self.folder, self._get_local_search(), self.parameters, model, on_stage)
            return await self.recording.with_origins(await recall.find(question))

        return find

    def _get_local_search(self) -> LocalSearch:
        if self._local_search is None:
            # Imported late, for the start of the program does not need it.
            from memory.agentic.local_search import LocalSearch

            self._local_search = LocalSearch.of(self.folder, self.parameters)
        return self._local_search


def _part(kind: str, path: str, label: str, text: str) -> PromptPart:
    return PromptPart(kind, f"{kind}:{path}", label, estimate_tokens(text), text=text)
