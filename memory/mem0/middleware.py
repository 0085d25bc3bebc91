"""`Mem0Middleware`: a long-term memory of facts about a user, kept by mem0."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import platformdirs

from agent_core.embedding import EmbeddingModelBase
from agent_core.errors import MnemoscopeError
from agent_core.event import Event, FactsWritten, Noticed, PromptPart, RetrievalSkipped
from agent_core.history import open_end
from agent_core.message import Msg
from agent_core.middleware import Kwargs, MiddlewareBase, StreamHandler
from agent_core.model.base import ChatModelBase
from agent_core.text import shorten
from agent_core.tokens import estimate_tokens
from agent_core.tool.base import ToolBase, current_call
from memory.mem0.answers import Fact
from memory.mem0.building import Recipe
from memory.mem0.client import require_async
from memory.mem0.exchange import Exchange, final_answer, said_before, said_in, unfinished_inputs
from memory.mem0.facts import Facts
from memory.mem0.outbox import Outbox
from memory.mem0.reply_search import ReplySearch
from memory.mem0.scope import Scope
from memory.mem0.store import QUERY_LENGTH, Mem0Store
from memory.mem0.tools import AddMemory, SearchMemory, tool_instructions
from memory.mem0.writing import Append, Progress, Writer

if TYPE_CHECKING:
    from agent_core.agent import Agent

Mode = Literal["static_control", "agent_control", "both"]

APP_NAME = "mnemoscope"
FOLDER = "mem0"
OUTBOX_FILE = "outbox.db"
DRAIN_SECONDS = 5.0


@dataclass
class _Reply:
    """What belongs to one running reply."""

    model: ChatModelBase
    search: ReplySearch | None = None


class Mem0Middleware(MiddlewareBase):
    """Recalls facts about a user before each reply, takes new ones from what was said, and lets the model do both.

    In `static_control` every reply starts a search, whose result goes in before the first model call, and every
    completed exchange is written back. In `agent_control` the model has two tools instead (`list_tools`) and is told of
    them. `both` does both. One instance may serve several agents, also at the same time. mem0 is imported, and anything
    opened, when it is first needed; `start` does that ahead of time.

    Args:
        user_id: whose memories these are.
        agent_id: stores them for one agent of that user.
        mode: who reads and writes.
        top_k: memories that a search gives, at most; 0 for no search before replies.
        threshold: the score, 0 to 1, that a memory needs; None leaves it to mem0.
        scope_search_by_agent: search what was stored for `agent_id` alone; otherwise everything of the user.
        await_write: a reply ends when its exchange is written; otherwise that goes on in the background.
        chat_model: extracts memories; the model of the agent that replies when None.
        embedding_model: gives the vectors; the bundled one when None, where it is installed; else words alone count.
        mem0_config: a `MemoryConfig` of mem0, or a mapping of its fields: what it sets is kept, but for `llm` and
            `embedder` where the models above are given. It is not changed.
        client: a ready `AsyncMemory` or `AsyncMemoryClient`, used instead of all of these; its owner closes it.
        data_dir: the folder whose subfolder `mem0` holds the default store and all else; the platform's when None.
        search_timeout: seconds that the first model call of a reply waits for the search, at most. Opening the memory,
            the first time, is not counted.
        max_tokens: of what is injected; None for no limit.

    Raises:
        ValueError: an id is blank or holds blanks, or a value is out of range.
        TypeError: the client is not an asynchronous one, or the config is none.
    """

    def __init__(
        self,
        user_id: str,
        agent_id: str | None = None,
        mode: Mode = "both",
        top_k: int = 5,
        threshold: float | None = None,
        scope_search_by_agent: bool = True,
        await_write: bool = True,
        chat_model: ChatModelBase | None = None,
        embedding_model: EmbeddingModelBase | None = None,
        mem0_config: Any = None,
        client: Any = None,
        *,
        data_dir: str | os.PathLike[str] | None = None,
        search_timeout: float = 1.5,
        max_tokens: int | None = 400,
    ) -> None:
        self.scope = Scope(user_id, agent_id or "", scope_search_by_agent).checked()
        _check(mode, top_k, threshold, search_timeout, max_tokens)
        if client is not None:
            require_async(client)
        elif mem0_config is not None and not (isinstance(mem0_config, Mapping) or hasattr(mem0_config, "model_copy")):
            raise TypeError(f"mem0_config must be a MemoryConfig or a mapping of its fields, not {mem0_config!r}")
        self.mode: Mode = mode
        self.top_k = top_k
        self.threshold = threshold
        self.await_write = await_write
        self.chat_model = chat_model
        self.search_timeout = search_timeout
        self.max_tokens = max_tokens
        folder = Path(data_dir or platformdirs.user_data_path(APP_NAME, appauthor=False)).expanduser() / FOLDER
        recipe = Recipe(folder, chat_model is not None, embedding_model, config=mem0_config)
        self.store = Mem0Store(client, None if client is not None else recipe)
        outbox = Outbox(folder / OUTBOX_FILE, self.store.name, self.scope.user)
        self._writer = Writer(self.store, self.scope, outbox)
        self.facts = Facts(self.store, self.scope, self._writer, outbox)
        self._replies: dict[str | None, _Reply] = {}
        self._told: set[str] = set()
        self._is_loaded = self._has_retried = False

    async def start(self, append: Append | None = None, model: ChatModelBase | None = None) -> None:
        """Open the memory, if it is not open, and try again what could not be written the last time.

        Args:
            append: takes the events that tell of it; without it notices wait for who gives one.
            model: extracts, where no `chat_model` was given.

        Raises:
            MnemoscopeError: it cannot be opened; the next use tries again.
        """
        try:
            await self.store.open()
            if not self._is_loaded:
                await self.store.load(self.scope.user)
                self._is_loaded = True
        except MnemoscopeError as error:
            self._notice(str(error), append)
            raise
        if append is None:
            return
        for notice in self.store.built.notices if self.store.built else ():
            self._notice(notice, append)
        if not self._has_retried:
            self._has_retried = True
            self._writer.begin_retry(self.chat_model or model, append)

    async def search(self, question: str, limit: int | None = None) -> list[Fact]:
        """The memories that fit a question best, the best first; `top_k` of them unless a limit is given.

        Raises:
            MnemoscopeError: the search failed.
        """
        return await self.store.search(question, self.scope, self.top_k if limit is None else limit, self.threshold)

    async def list_tools(self) -> list[ToolBase]:
        """`search_memory` and `add_memory`; none in `static_control`."""
        if self.mode == "static_control":
            return []
        return [SearchMemory(self._search_for_model, self.top_k), AddMemory(self._keep_for_model)]

    async def on_system_prompt(self, agent: Agent, current_prompt: str) -> str | list[PromptPart]:
        """Tell the model of the tools that it has."""
        text = "" if self.mode == "static_control" else tool_instructions(agent.toolkit.names)
        if not text:
            return current_prompt
        source = self.scope.source
        return [
            PromptPart("instructions", f"instructions:{source}", "mem0 instructions", estimate_tokens(text), text=text)
        ]

    async def on_reply(self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler) -> AsyncIterator[Event]:
        """Search while the reply starts; write back what was said when it is completed."""
        reply_id = agent.state.reply_id
        inputs: Sequence[Msg] = input_kwargs["inputs"]
        is_static = self.mode != "agent_control"
        entries = await agent.memory.entries() if is_static else []
        before = entries[-1].msg.id if entries else None
        reply = self._replies[reply_id] = _Reply(agent.model)
        is_cancelled = False
        try:
            if is_static:
                reply.search = self._begin_search(agent, inputs or open_end([entry.msg for entry in entries]))
            async for event in next_handler(**input_kwargs):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            is_cancelled = True
            raise
        finally:
            del self._replies[reply_id]
            if reply.search is not None:
                await reply.search.end(is_cancelled=is_cancelled)
        if is_static:
            await self._write_back(agent, inputs, before)

    async def on_reasoning(
        self, agent: Agent, input_kwargs: Kwargs, next_handler: StreamHandler
    ) -> AsyncIterator[Event]:
        """Put in what the search has found; the first model call waits a little for it."""
        number = input_kwargs["round"]
        reply = self._replies.get(agent.state.reply_id)
        if reply is not None and reply.search is not None:
            if number == 1:
                await reply.search.wait(self.search_timeout)
            await reply.search.place(number)
        async for event in next_handler(**input_kwargs):
            yield event

    async def aclose(self, seconds: float | None = DRAIN_SECONDS, progress: Progress | None = None) -> int:
        """Wait for what is being written, then let go of everything; using the middleware again opens it again.

        Args:
            seconds: to wait, at most; None for as long as it takes.
            progress: told how many writes are over, and of how many.

        Returns: how many writes were not over and are kept for the next start.
        """
        kept = await self._writer.drain(seconds, progress)
        await self.store.aclose()
        self._is_loaded = self._has_retried = False
        return kept

    def _notice(self, text: str, append: Append | None) -> None:
        """Tell a person something, once."""
        if append is not None and text not in self._told:
            self._told.add(text)
            append(Noticed(text=text, level="warning"))

    def _begin_search(self, agent: Agent, asked: Sequence[Msg]) -> ReplySearch | None:
        """Start looking up what the user says; where that is nothing, say that no search is made."""
        source = self.scope.source
        question = shorten(said_in(asked), QUERY_LENGTH)
        if not question or not self.top_k:
            reason = "nothing was asked" if self.top_k else "top_k is 0"
            agent.trace.append(RetrievalSkipped(source=source, reason=reason, reply_id=agent.state.reply_id))
            return None

        async def open_memory() -> None:
            await self.start(agent.trace.append, agent.model)

        return ReplySearch(agent, source, question, open_memory, self.search, self.max_tokens)

    async def _write_back(self, agent: Agent, inputs: Sequence[Msg], before: str | None) -> None:
        """Write the exchange that the reply has completed, if it has completed one."""
        entries = await agent.memory.entries()
        reply_id = agent.state.reply_id
        answer = final_answer(entries, before)
        said = said_in(inputs) or said_before(unfinished_inputs(agent.trace, reply_id), entries)
        if not said or not answer:
            return
        model = self.chat_model or agent.model
        task = self._writer.begin(Exchange(said, answer).messages, model, agent.trace.append, reply_id)
        if self.await_write:
            # Who is interrupted now has an answer that is complete, and the write goes on.
            await asyncio.wait([task])

    async def _search_for_model(self, question: str, limit: int) -> list[Fact]:
        await self.start(current_call().emit, self._model_of_call())
        return await self.search(question, limit)

    async def _keep_for_model(self, texts: Sequence[str]) -> FactsWritten:
        call, model = current_call(), self._model_of_call()
        await self.start(call.emit, model)
        return await self._writer.keep(texts, model, call.emit, call.reply_id)

    def _model_of_call(self) -> ChatModelBase | None:
        reply = self._replies.get(current_call().reply_id)
        return self.chat_model or (reply.model if reply else None)


def _check(mode: str, top_k: int, threshold: float | None, search_timeout: float, max_tokens: int | None) -> None:
    if mode not in get_args(Mode):
        raise ValueError(f"mode must be one of {', '.join(get_args(Mode))}, not {mode!r}")
    for name, value in (("top_k", top_k), ("search_timeout", search_timeout), ("max_tokens", max_tokens)):
        if value is not None and value < 0:
            raise ValueError(f"{name} must not be negative: {value!r}")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie between 0 and 1: {threshold!r}")
