"""`Agent`: a ReAct agent over a model, tools, middlewares and a marked working memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import cast

import msgspec

from agent_core.compressing import compress_memory
from agent_core.compression import ContextConfig
from agent_core.errors import MnemoscopeError
from agent_core.event import Answer, Event, FilterChanged, Noticed, PromptPart, PromptSent
from agent_core.finishing import finish
from agent_core.mark_rules import MarkRule, apply_rules
from agent_core.marks import Marks, MemoryFilter, normalize_marks
from agent_core.memory_follower import MemoryFollower
from agent_core.message import Msg, ToolCallBlock, UserMsg
from agent_core.middleware import MiddlewareBase
from agent_core.model.base import ChatModelBase
from agent_core.module import StateModule
from agent_core.onion import call_through, overriding
from agent_core.permission import PermissionContext
from agent_core.prompt import Prompt, base_part, build_prompt, extend_system_prompt, system_text
from agent_core.prompt_ledger import PromptLedger
from agent_core.reply import ReplyRun
from agent_core.tool.base import Toolkit
from agent_core.tool.read_record import ReadRecord
from agent_core.trace import Trace
from agent_core.working_memory import WorkingMemory

Approve = Callable[[ToolCallBlock, str], Awaitable[Answer]]
"""Asks a person about a call; gets the call and a unified diff, answers `once`, `always` or `no`."""
Inputs = Msg | str | Sequence[Msg | str] | None


class AgentState:
    """What changes about an agent while it works, apart from its memory."""

    def __init__(self) -> None:
        self.permission_context = PermissionContext()
        self.reads = ReadRecord()
        self.reply_id: str | None = None


class Agent(StateModule):
    """Answers messages in rounds of reasoning and acting, and records all of it in its trace.

    Args:
        name: what it signs its messages with.
        system_prompt: the first part of the system prompt; middlewares add theirs.
        model: answers.
        toolkit: what it can do. A middleware's tools are passed here by whoever builds the agent.
        middlewares: the first is the outermost.
        memory: working memory; a new `InMemoryMemory` when absent.
        max_iters: rounds that a reply may take; None for as many as it wants.
        context_config: when and how older messages are compressed.
        mark_rules: set marks on what the agent stores; assignable at any time.
        approve: asks a person where a permission is needed; without it such calls are refused.
        trace: where events go; a new one when absent. From one that was restored, the filter is taken over.

    Attributes:
        token_ratio: how many tokens the model's server counts for each one that is estimated.
    """

    def __init__(
        self,
        name: str,
        system_prompt: str,
        model: ChatModelBase,
        toolkit: Toolkit | None = None,
        middlewares: Sequence[MiddlewareBase] | None = None,
        memory: WorkingMemory | None = None,
        max_iters: int | None = 50,
        context_config: ContextConfig | None = None,
        mark_rules: Sequence[MarkRule] = (),
        approve: Approve | None = None,
        trace: Trace | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self.system_prompt = system_prompt
        self.model = model
        self.toolkit = toolkit or Toolkit()
        self.middlewares = list(middlewares or ())
        self.memory: WorkingMemory = _default_memory() if memory is None else memory
        self.max_iters = max_iters
        self.context_config = context_config or ContextConfig()
        self.mark_rules = tuple(mark_rules)
        self.approve = approve
        self.trace = Trace() if trace is None else trace
        self.state = AgentState()
        self.prompt_ledger = PromptLedger(self.trace.of(PromptSent))
        filters = self.trace.of(FilterChanged)
        self._memory_filter = filters[-1].memory_filter if filters else MemoryFilter()
        self.register_state("memory_filter", msgspec.to_builtins, lambda data: msgspec.convert(data, MemoryFilter))
        self._turn = asyncio.Lock()
        self._run: ReplyRun | None = None
        self.token_ratio = 1.0
        self._follower = MemoryFollower(self.memory, self.trace, lambda: self.state.reply_id)

    @property
    def memory_filter(self) -> MemoryFilter:
        """What is let through to the model of what was stored before the running reply."""
        return self._memory_filter

    @memory_filter.setter
    def memory_filter(self, memory_filter: MemoryFilter) -> None:
        if memory_filter != self._memory_filter:
            self._memory_filter = memory_filter
            self.trace.append(FilterChanged(memory_filter=memory_filter, reply_id=self.state.reply_id))
            if (memory_filter.mark or memory_filter.exclude_mark) and not getattr(self.memory, "tells_marks", True):
                text = f"{type(self.memory).__name__} does not tell marks: to this filter every message is unmarked."
                self.trace.append(Noticed(text=text, level="warning", reply_id=self.state.reply_id))

    async def start(self) -> None:
        """Record what the memory holds already, unless the trace says so. The first reply does it if nobody has."""
        await self._follower.start()

    async def reply(self, inputs: Inputs = None, *, marks: Marks = None) -> Msg:
        """Answer, and return the message of the last round.

        Args:
            inputs: one or several messages or texts of the user; None to go on from what is stored.
            marks: set on the inputs.

        Raises:
            MnemoscopeError: the reply failed; what was said, what streamed and finished results are in memory.
        """
        async with self._reply_turn(inputs, marks) as run:
            async for _ in run.events():
                pass
        if run.error is not None:
            raise run.error
        return cast("Msg", run.last_msg)

    async def __call__(self, inputs: Inputs = None, *, marks: Marks = None) -> Msg:
        """The same as `reply`."""
        return await self.reply(inputs, marks=marks)

    async def reply_stream(self, inputs: Inputs = None, *, marks: Marks = None) -> AsyncIterator[Event]:
        """Answer, and yield this reply's events as they happen, those of background work included.

        The last is a `ReplyEnded`; a failure is told there and not raised. Closing the iterator interrupts the reply.
        """
        async with self._reply_turn(inputs, marks) as run:
            queue: asyncio.Queue[Event | None] = asyncio.Queue()
            task = asyncio.create_task(self._feed(run, queue))
            try:
                while (event := await queue.get()) is not None:
                    yield event
                await task
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def observe(self, inputs: Inputs, *, marks: Marks = None) -> None:
        """Store messages without answering."""
        await self.start()
        for msg in _as_messages(inputs):
            await self.store(msg, marks)

    async def store(self, msg: Msg, marks: Marks = None) -> None:
        """Put one message into memory, with the marks given and those that the rules set on it.

        A rule whose pattern takes too long on a message is told and used no more.
        """
        ruled = apply_rules(msg, self.mark_rules)
        for rule in ruled.too_slow:
            self.mark_rules = tuple(other for other in self.mark_rules if other != rule)
            text = f"The rule that sets mark {rule.mark!r} is off now: '{rule.pattern}' takes too long on a message."
            self.trace.append(Noticed(text=text, level="warning", reply_id=self.state.reply_id))
        # Who interrupts a reply does not take back what was said until then.
        await finish(self.memory.add(msg, marks=(*normalize_marks(marks), *ruled.marks)))
        await self.catch_up()

    async def catch_up(self) -> None:
        """Record what was changed in a memory that does not publish its changes. After a reply this is done anyway."""
        await self._follower.compare()

    async def compress_context(self, context_config: ContextConfig | None = None, instructions: str = "") -> bool:
        """Summarise the older part of the conversation now. True when something was covered.

        Raises:
            MnemoscopeError: no summary could be had; nothing was changed then.
        """
        config = context_config or self.context_config

        async def compress(context_config: ContextConfig, instructions: str) -> bool:
            return await compress_memory(self, context_config, instructions)

        return await call_through(
            self, "on_compress_context", compress, context_config=config, instructions=instructions
        )

    async def preview_prompt(self) -> Prompt:
        """The request that would be sent if the user said nothing new: what every pane shows as the next prompt."""
        return await self._build_prompt()

    async def prepare_prompt(self) -> Prompt:
        """The request of the running reply, after compressing what has grown too large."""
        prompt = await self._build_prompt()
        size = self.model.context_size
        limit = size * self.context_config.trigger_ratio if size else None
        while limit is not None and prompt.tokens * self.token_ratio > limit and await self.try_to_compress():
            before, prompt = prompt, await self._build_prompt()
            if prompt.tokens >= before.tokens:
                break
        return prompt

    def calibrate(self, estimated: int, reported: int) -> None:
        """Learn from a server's own count how far the estimates are off for this model."""
        if estimated > 0 and reported > 0:
            self.token_ratio = min(3.0, max(0.5, reported / estimated))

    async def system_parts(self) -> list[PromptPart]:
        """The system prompt: the agent's own, then what each middleware makes of it."""
        parts = [base_part(self.system_prompt)] if self.system_prompt else []
        for middleware in overriding(self.middlewares, "on_system_prompt"):
            answer = await middleware.on_system_prompt(self, system_text(parts))
            parts = extend_system_prompt(parts, answer, type(middleware).__name__)
        return parts

    async def _build_prompt(self) -> Prompt:
        system_parts = await self.system_parts()
        entries = await self.memory.entries()
        earlier = None if self._run is None else self._run.earlier_ids
        running = () if earlier is None else {entry.msg.id for entry in entries if entry.msg.id not in earlier}
        return build_prompt(
            system_parts,
            entries,
            self._memory_filter,
            summary=self.memory._compressed_summary,
            running=running,
            tools=self.toolkit.schemas,
        )

    async def try_to_compress(self) -> bool:
        """Compress; a failure is in the trace already and must not cost the reply, which may still fit."""
        try:
            return await self.compress_context()
        except Exception:
            return False

    @asynccontextmanager
    async def _reply_turn(self, inputs: Inputs, marks: Marks) -> AsyncIterator[ReplyRun]:
        """Wait for earlier replies of this agent, then be the one that runs."""
        messages = _as_messages(inputs)
        async with self._turn:
            run = ReplyRun(self, messages, marks)
            await run.look_back()
            self._run, self.state.reply_id = run, run.reply_id
            try:
                yield run
            finally:
                self.state.reply_id = self._run = None
                await self._catch_up_after(run)

    async def _catch_up_after(self, run: ReplyRun) -> None:
        try:
            await self.catch_up()
        except Exception as error:
            # The reply is over, well or not; that it cannot be compared does not change how it went.
            text = f"The memory could not be read after the reply: {MnemoscopeError.of(error)}"
            self.trace.append(Noticed(text=text, level="warning", reply_id=run.reply_id))

    async def _feed(self, run: ReplyRun, queue: asyncio.Queue[Event | None]) -> None:
        """Put into the queue what comes through the middlewares, and what others append for this reply."""

        def on_event(event: Event) -> None:
            if event.reply_id == run.reply_id and not run.is_emitting:
                queue.put_nowait(event)

        unsubscribe = self.trace.subscribe(on_event)
        try:
            async for event in run.events():
                queue.put_nowait(event)
        finally:
            unsubscribe()
            queue.put_nowait(None)


def _default_memory() -> WorkingMemory:
    from memory import InMemoryMemory

    return InMemoryMemory()


def _as_messages(inputs: Inputs) -> list[Msg]:
    if inputs is None:
        return []
    items = [inputs] if isinstance(inputs, Msg | str) else list(inputs)
    return [UserMsg("user", item) if isinstance(item, str) else item for item in items]
