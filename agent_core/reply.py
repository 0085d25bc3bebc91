"""One running reply: rounds of reasoning and acting until there is an answer."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec.structs import replace

from agent_core.acting import Acting
from agent_core.errors import ContextOverflow, MnemoscopeError, ReplyError
from agent_core.event import Event, Finish, Noticed, PromptSent, ReplyEnded, ReplyStarted, RoundStarted, Usage
from agent_core.finishing import cancel_requests, closing, finish
from agent_core.history import open_end
from agent_core.joining import joined
from agent_core.marks import TOOL, Marks
from agent_core.message import AssistantMsg, Msg, ToolCallBlock
from agent_core.model.base import ChatModelBase, ModelDelta, ToolSchema
from agent_core.model.printed_call import looks_like_printed_tool_call
from agent_core.onion import call_through, overriding, stream_through
from agent_core.prompt import Prompt, middleware_parts
from agent_core.round import Round

if TYPE_CHECKING:
    from agent_core.agent import Agent

E = TypeVar("E", bound=Event)
CutShort = Literal["interrupted", "error"]
_CUT = {"length": "it reached the length limit", "content_filter": "the endpoint's content filter stopped it"}
"""Why an answer that is complete for the endpoint is not, by its word for it."""


class ReplyRun:
    """What belongs to one reply and to no other: its id, its rounds and its cost.

    Args:
        agent: replies.
        inputs: what it replies to.
        marks: set on the inputs.

    Attributes:
        earlier_ids: ids of what was stored before, but for what is answered now; everything else belongs to this reply,
            whoever stores it.
        open_calls: the calls that have been stored without a result so far, by id.
    """

    def __init__(self, agent: Agent, inputs: Sequence[Msg], marks: Marks) -> None:
        self.agent = agent
        self.inputs = list(inputs)
        self.reply_id = uuid.uuid4().hex
        self.earlier_ids: Collection[str] = ()
        self.open_calls: dict[str, ToolCallBlock] = {}
        self.asking = asyncio.Lock()
        self.is_emitting = False
        self.last_msg: Msg | None = None
        self.error: MnemoscopeError | None = None
        self._marks = marks
        self._rounds = 0
        self._usage: Usage | None = None
        self._finish: Finish = "completed"
        self._unstored = list(inputs)

    async def look_back(self) -> None:
        """See what is stored before the reply begins. A memory that cannot tell makes it fail, like anything later."""
        try:
            await self.agent.start()
            stored = [entry.msg for entry in await self.agent.memory.entries()]
            self.earlier_ids = _ids(stored) - _ids(self.inputs or open_end(stored))
        except asyncio.CancelledError:
            # What was said is not to be lost, though the reply will never begin.
            await finish(self._leave_whole())
            raise
        except Exception as error:
            self._fail(error)

    def append(self, event: E) -> E:
        """Append an event of this reply to the trace."""
        return self.agent.trace.append(replace(event, reply_id=self.reply_id))

    def emit(self, event: E) -> E:
        """Append an event that the caller is about to yield: it reaches the stream through the middlewares only."""
        self.is_emitting = True
        try:
            return self.append(event)
        finally:
            self.is_emitting = False

    def adopt(self, event: Event) -> Event:
        """Append an event that a middleware made; one that is in the trace already is handed on."""
        return event if event.seq >= 0 else self.emit(event)

    async def store(self, msg: Msg, marks: Marks = None) -> None:
        """Store a message of this reply."""
        await self.agent.store(msg, marks)

    async def events(self) -> AsyncIterator[Event]:
        """Run the reply. The last event is a `ReplyEnded`; a failure is kept in `error` and not raised.

        Cancelling it leaves what streamed so far and a result for every call in memory.
        """
        self.append(ReplyStarted(agent=self.agent.name, inputs=tuple(msg.id for msg in self.inputs)))
        asked_to_end = cancel_requests()
        try:
            if self.error is not None:
                return
            async with closing(
                stream_through(self.agent, "on_reply", self._run, self.adopt, inputs=self.inputs)
            ) as events:
                async for event in events:
                    yield event
            if self.last_msg is None:
                raise ReplyError("The reply ended without an answer: a middleware let none through.")
        except Exception as error:
            self._fail(error)
        except BaseException as error:
            if not isinstance(error, asyncio.CancelledError) or cancel_requests() > asked_to_end:
                self._finish = "interrupted"
                raise
            self._fail(ReplyError("The reply failed: something that it waited for was cancelled."))
        finally:
            try:
                await finish(self._leave_whole())
            finally:
                self.append(self._ended())

    async def _leave_whole(self) -> None:
        """Store what the user said, and a result for every call, where the reply ended before it came to that."""
        try:
            await self._store_inputs()
            await Acting(self, None).give_up()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._finish = "error"
        self.error = self.error or MnemoscopeError.of(error)

    def _ended(self) -> ReplyEnded:
        error_type = type(self.error).__name__ if self.error else ""
        text = str(self.error) if self.error else ""
        return ReplyEnded(
            finish=self._finish, rounds=self._rounds, usage=self._usage, error=text, error_type=error_type
        )

    async def _store_inputs(self) -> None:
        while self._unstored:
            # Taken out before it is stored: who interrupts that does not tear it, nor is it stored twice then.
            msg = self._unstored.pop(0)
            try:
                await self.store(msg, self._marks)
            except Exception:
                self._unstored.insert(0, msg)
                raise

    async def _run(self, inputs: Sequence[Msg]) -> AsyncIterator[Event]:
        self._unstored = list(inputs)
        await self._store_inputs()
        while self.agent.max_iters is None or self._rounds < self.agent.max_iters:
            self._rounds += 1
            yield self.emit(RoundStarted(round=self._rounds))
            answer = Round(self._rounds)

            def reason(round: int, answer: Round = answer) -> AsyncIterator[Event]:
                return self._reason(answer)

            async with closing(
                stream_through(self.agent, "on_reasoning", reason, self.adopt, round=self._rounds)
            ) as events:
                async for event in events:
                    yield event
            calls = self.last_msg.get_content_blocks(ToolCallBlock) if self.last_msg else []
            if not calls:
                return
            async with closing(Acting(self, answer.finish_reason).make(calls)) as events:
                async for event in events:
                    yield event
        self._finish = "max_iters"
        text = f"I stopped after {self._rounds} rounds without coming to an end. Say “go on” and I will."
        self.last_msg = AssistantMsg(self.agent.name, text, metadata={"cut_short": "max_iters"})
        await self.store(self.last_msg)

    async def _reason(self, answer: Round) -> AsyncIterator[Event]:
        """One model call, once more when the endpoint says that the prompt is too large and compressing helps."""
        try:
            async with closing(self._ask_model(answer)) as events:
                async for event in events:
                    yield event
        except ContextOverflow:
            if not answer.is_empty or not await self.agent.try_to_compress():
                raise
            async with closing(self._ask_model(answer)) as events:
                async for event in events:
                    yield event

    async def _ask_model(self, answer: Round) -> AsyncIterator[Event]:
        agent = self.agent
        self.last_msg = None
        prompt = await agent.prepare_prompt()
        cut_short: CutShort | Literal[""] = "interrupted"
        error_text = ""
        try:
            deltas = await call_through(
                agent,
                "on_model_call",
                self._sender(prompt, answer.number),
                messages=list(prompt.messages),
                tools=prompt.tools,
                model=agent.model,
            )
            async with closing(joined(deltas)) as larger:
                async for delta in larger:
                    for event in answer.take(delta):
                        yield self.emit(event)
            cut_short = ""
        except Exception as error:
            cut_short, error_text = "error", str(error)
            raise
        finally:
            for event in answer.close_blocks():
                self.append(event)
            self._account(prompt, answer, error_text)
            await self._store_answer(answer, cut_short)

    def _sender(self, prompt: Prompt, number: int) -> Any:
        """The innermost handler of `on_model_call`: says what is sent, and sends it."""
        agent = self.agent

        async def send(
            messages: Sequence[Msg], tools: Sequence[ToolSchema], model: ChatModelBase
        ) -> AsyncIterator[ModelDelta]:
            sources = [type(one).__name__ for one in overriding(agent.middlewares, "on_model_call")]
            parts = middleware_parts(prompt.messages, messages, sources, prompt.parts)
            changed, removed = agent.prompt_ledger.difference(parts)
            sent = PromptSent(
                round=number,
                model=model.model,
                parts=changed,
                removed=removed,
                tokens=sum(part.tokens for part in parts if part.included),
                context_size=model.context_size,
            )
            agent.prompt_ledger.apply(self.append(sent))
            return model.stream(messages, tools)

        return send

    def _account(self, prompt: Prompt, answer: Round, error: str) -> None:
        self.append(answer.ended(error))
        if answer.usage is not None:
            self._usage = (self._usage or Usage()) + answer.usage
            self.agent.calibrate(prompt.tokens, answer.usage.input_tokens)

    async def _store_answer(self, answer: Round, cut_short: CutShort | Literal[""]) -> None:
        if cut_short and answer.is_empty:
            return
        msg = answer.message(self.agent.name, self.agent.model.model, cut_short=cut_short)
        if cut_short and not msg.blocks:
            return
        calls = msg.get_content_blocks(ToolCallBlock)
        self.last_msg = msg
        self.open_calls.update((call.id, call) for call in calls)
        await self.store(msg, TOOL if calls and len(calls) == len(msg.blocks) else None)
        if not cut_short:
            self._notice_oddities(answer, msg)

    def _notice_oddities(self, answer: Round, msg: Msg) -> None:
        text = msg.get_text_content() or ""
        cut = _CUT.get(answer.finish_reason or "")
        if answer.is_empty:
            why = f": {cut}." if cut else "."
            self.append(Noticed(text=f"The model answered with nothing at all{why}", level="warning"))
        elif looks_like_printed_tool_call(text, self.agent.toolkit.names):
            notice = "The model printed a tool call as text; it was not run. Its endpoint may not support tools."
            self.append(Noticed(text=notice, level="warning"))
        elif cut:
            self.append(Noticed(text=f"The answer was cut: {cut}.", level="warning"))


def _ids(messages: Iterable[Msg]) -> frozenset[str]:
    return frozenset(msg.id for msg in messages)
