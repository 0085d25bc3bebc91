"""`OfflineChatModel`: what answers when no language model is connected. It remembers and recalls by fixed rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from agent_core.errors import StructuredOutputError
from agent_core.message import ContentBlock, Msg, TextBlock, ToolCallBlock
from agent_core.model.base import ChatModelBase, Finished, ModelDelta, StructuredReply, ToolSchema
from agent_core.model.offline.answering import answer
from agent_core.model.offline.conversation import Conversation
from agent_core.model.offline.intent import Ask, KeepOut, Remember, intent_of, tells_of_self
from agent_core.model.offline.phrases import CONNECT, say
from agent_core.model.offline.saving import save
from agent_core.model.offline.selecting import FIELD, select_files
from agent_core.model.offline.steps import Do, Say, Step
from agent_core.model.offline.summarising import FIELDS, summarise
from agent_core.model.pieces import deltas_of, estimate_usage

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
        conversation = Conversation(messages, tools)
        blocks = _blocks(conversation, _next_step(conversation))
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
        wanted = schema.get("properties", {})
        if FIELD in wanted:
            value: dict[str, Any] = {FIELD: select_files(messages)}
        elif any(name in wanted for name in FIELDS):
            value = summarise(messages, schema)
        else:
            raise StructuredOutputError("without a language model there is no such answer: connect one with " + CONNECT)
        return StructuredReply(value, estimate_usage(messages, (), (TextBlock(json.dumps(value, ensure_ascii=False)),)))


def _next_step(conversation: Conversation) -> Step:
    match intent_of(conversation.text):
        case Remember(fact):
            return save(conversation, fact)
        case Ask():
            return answer(conversation)
        case KeepOut():
            folder = f"`{conversation.folder}`" if conversation.folder else say("the_folder", conversation.language)
            return Say(say("keep_out", conversation.language, folder=folder))
        case _:
            return Say(_introduction(conversation))


def _introduction(conversation: Conversation) -> str:
    """What can be done here; short when it was said before."""
    language = conversation.language
    is_known = any(CONNECT in text for text in conversation.answers)
    if tells_of_self(conversation.text):
        offer = say("offer", language)
        return offer if is_known else f"{offer}\n\n{say('rules_only', language)}"
    return say("introduction_again" if is_known else "introduction", language)


def _blocks(conversation: Conversation, step: Step) -> list[ContentBlock]:
    if isinstance(step, Say):
        return [TextBlock(step.text)]
    return [*([TextBlock(step.words)] if step.words else []), *_calls(conversation, step)]


def _calls(conversation: Conversation, step: Do) -> list[ToolCallBlock]:
    """The calls with ids that are new in the conversation, and the same whenever the same request is made again."""
    question = conversation.question.id[:12] if conversation.question else ""
    first = len(conversation.runs) + 1
    return [
        ToolCallBlock(f"offline-{question}-{number}", call.name, json.dumps(call.arguments, ensure_ascii=False))
        for number, call in enumerate(step.calls, first)
    ]
