"""Replies that the end of the program cut off, and what is needed to bring them to an end."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from agent_core.agent import Agent
from agent_core.change import Added
from agent_core.event import (
    BlockDelta,
    BlockStarted,
    CompressionEnded,
    CompressionStarted,
    Event,
    MemoryChanged,
    PermissionAnswered,
    PermissionAsked,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
    ToolEnded,
)
from agent_core.history import interrupted_result
from agent_core.marks import TOOL
from agent_core.message import HintBlock, Msg, ToolCallBlock, ToolResultBlock
from agent_core.model.base import ModelDelta, TextDelta, ThinkingDelta, ToolCallDelta
from agent_core.round import Round

PROGRAM_ENDED = "the program ended"


class CutReply:
    """A reply that has begun and not ended: what streamed and was not stored, what was asked and not answered."""

    def __init__(self, started: ReplyStarted) -> None:
        self.reply_id = started.reply_id
        self._agent = started.agent
        self._model = ""
        self._rounds = 0
        self._names: dict[str, str] = {}
        self._answer = Round(0)
        self._calls: dict[str, ToolCallBlock] = {}
        self._questions: dict[str, PermissionAsked] = {}
        self._is_compressing = False

    def take(self, event: Event) -> None:
        """Take in one of its events."""
        match event:
            case RoundStarted(round=number):
                self._rounds, self._answer = number, Round(number)
            case PromptSent(model=model):
                self._model = model
            case BlockStarted(block_id=block_id, kind="tool_call", name=name):
                self._names[block_id] = name
            case BlockDelta():
                list(self._answer.take(self._delta(event)))
            case MemoryChanged(change=Added(entries)):
                for entry in entries:
                    self._note(entry.msg)
            case PermissionAsked():
                self._questions[event.call_id] = event
            case PermissionAnswered(call_id=call_id):
                self._questions.pop(call_id, None)
            case CompressionStarted() | CompressionEnded():
                self._is_compressing = isinstance(event, CompressionStarted)

    async def bring_to_an_end(self, agent: Agent) -> None:
        """Store what had streamed as an interrupted answer, give every call a result, and say that it is over."""
        agent.state.reply_id = self.reply_id
        try:
            await self._store_partial_answer(agent)
            for question in self._questions.values():
                answered = PermissionAnswered(call_id=question.call_id, answer="no", reason=PROGRAM_ENDED)
                self._append(agent, answered)
            await self._answer_calls(agent)
            if self._is_compressing:
                self._append(agent, CompressionEnded(error=PROGRAM_ENDED))
            self._append(agent, ReplyEnded(finish="interrupted", rounds=self._rounds))
        finally:
            agent.state.reply_id = None

    async def _store_partial_answer(self, agent: Agent) -> None:
        msg = self._answer.message(self._agent, self._model, cut_short="interrupted")
        if msg.get_content_blocks():
            await agent.memory.add(msg)

    async def _answer_calls(self, agent: Agent) -> None:
        for call in self._calls.values():
            result = interrupted_result(call)
            await agent.memory.add(result, marks=TOOL)
            ended = ToolEnded(call_id=call.id, tool=call.name, state="interrupted", msg_id=result.id)
            self._append(agent, ended)

    def _append(self, agent: Agent, event: Event) -> None:
        agent.trace.append(replace(event, reply_id=self.reply_id))

    def _note(self, msg: Msg) -> None:
        """A message of this reply was stored."""
        for result in msg.get_content_blocks(ToolResultBlock):
            self._calls.pop(result.id, None)
        if msg.role == "assistant" and not msg.get_content_blocks(HintBlock):
            self._answer = Round(self._rounds)
            self._calls |= {call.id: call for call in msg.get_content_blocks(ToolCallBlock)}

    def _delta(self, event: BlockDelta) -> ModelDelta:
        match event.kind:
            case "text":
                return TextDelta(event.text)
            case "thinking":
                return ThinkingDelta(event.text)
            case "tool_call":
                return ToolCallDelta(event.block_id, self._names.get(event.block_id, ""), event.text)


def cut_replies(events: Iterable[Event]) -> list[CutReply]:
    """The replies among these events that never came to an end, oldest first."""
    running: dict[str | None, CutReply] = {}
    for event in events:
        if isinstance(event, ReplyStarted):
            running[event.reply_id] = CutReply(event)
        elif isinstance(event, ReplyEnded):
            running.pop(event.reply_id, None)
        elif event.reply_id in running:
            running[event.reply_id].take(event)
    return list(running.values())
