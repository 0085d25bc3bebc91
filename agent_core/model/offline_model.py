"""`OfflineChatModel`: what answers when no language model is connected. It remembers and recalls by fixed rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_core.errors import StructuredOutputError
from agent_core.message import ContentBlock, Msg, TextBlock, ToolCallBlock
from agent_core.model.base import ChatModelBase, Finished, ModelDelta, StructuredReply, ToolSchema
from agent_core.model.pieces import deltas_of, estimate_usage

if TYPE_CHECKING:
    from agent_core.model.offline.conversation import Conversation
    from agent_core.model.offline.steps import Step

# What it follows is imported when it is first asked: dozens of patterns, which who has a real model never needs.

_PIECE = 24
"""Characters of a delta."""


class OfflineChatModel(ChatModelBase):
    """No language model, and it says so; but it works on whatever is typed, in English and in Chinese.

    Asked to remember something, it saves it by calling `Read`, `Write` and `Edit`; asked something, it quotes memories
    that it was given or opens, and what was said before; asked anything else, it says what it can do and how to connect
    a model. Everything follows from the request, whose system prompt must hold the lines `Memory folder: <path>` and
    `Index file: <path>`: the same request always gets the same answer.
    """

    model = "offline"
    endpoint = "this machine"
    is_language_model = False

    async def stream(self, messages: Sequence[Msg], tools: Sequence[ToolSchema] = ()) -> AsyncIterator[ModelDelta]:
        """Answer as every model does: text and calls in pieces, then what it would have cost."""
        from agent_core.model.offline.conversation import Conversation
        from agent_core.model.offline.deciding import next_step

        conversation = Conversation(messages, tools)
        blocks = _blocks(conversation, next_step(conversation))
        for block in blocks:
            for delta in deltas_of(block, _PIECE):
                await asyncio.sleep(0)
                yield delta
        calls = any(isinstance(block, ToolCallBlock) for block in blocks)
        yield Finished("tool_calls" if calls else "stop", estimate_usage(messages, tools, blocks))

    async def generate_structured(self, messages: Sequence[Msg], schema: Mapping[str, Any]) -> StructuredReply:
        """Choose memory files, or summarise by quoting.

        Raises:
            StructuredOutputError: the schema asks for anything else.
        """
        from agent_core.model.offline.selecting import FIELD, select_files
        from agent_core.model.offline.summarising import FIELDS, summarise

        wanted = schema.get("properties", {})
        if FIELD in wanted:
            value: dict[str, Any] = {FIELD: select_files(messages)}
        elif any(name in wanted for name in FIELDS):
            value = summarise(messages, schema)
        else:
            raise StructuredOutputError(
                "this takes a language model: connect one with mnemoscope --model M --base-url URL"
            )
        return StructuredReply(value, estimate_usage(messages, (), (TextBlock(json.dumps(value, ensure_ascii=False)),)))


def _blocks(conversation: Conversation, step: Step) -> list[ContentBlock]:
    """The answer. Ids of calls are new in the conversation, and the same whenever the same request is made again."""
    question = conversation.question.id[:12] if conversation.question else ""
    first = len(conversation.runs) + 1
    calls = [
        ToolCallBlock(f"offline-{question}-{number}", call.name, json.dumps(call.arguments, ensure_ascii=False))
        for number, call in enumerate(step.calls, first)
    ]
    return [*([TextBlock(step.text)] if step.text else []), *calls]
