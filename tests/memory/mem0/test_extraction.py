from __future__ import annotations

import asyncio
import json
from datetime import date
from typing import Any

import pytest

from agent_core.errors import ModelError, ModelUnreachable
from agent_core.model import OpenAIChatModel, ScriptedChatModel
from agent_core.model.limits import RetryPolicy
from memory.mem0.errors import ExtractionError
from memory.mem0.extraction import LARGE_WINDOW, SHORT_INSTRUCTIONS, extract, house_rules
from memory.mem0.store_call import Replacement, StoreCall
from tests.fake_server import FakeServer, reasoning, reply, text
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.test_json_answer import NOTHING, TEXTS, USELESS

EXISTING = [{"id": "0", "text": "I live in Oslo"}, {"id": "1", "text": 'I like "tea" [green]'}]


def request(existing: list[dict[str, str]] | None = None, rules: str = "") -> list[dict[str, str]]:
    """What mem0 sends, by its own means."""
    from mem0.configs.prompts import ADDITIVE_EXTRACTION_PROMPT, generate_additive_extraction_prompt

    user = generate_additive_extraction_prompt(
        existing_memories=existing, new_messages="user: I moved to Rome\n", custom_instructions=rules
    )
    return [{"role": "system", "content": ADDITIVE_EXTRACTION_PROMPT}, {"role": "user", "content": user}]


async def extracted(model: Any, prompt: list[dict[str, str]] | None = None) -> tuple[list[dict[str, str]], StoreCall]:
    call = StoreCall(asyncio.get_running_loop(), model)
    answer = json.loads(await extract(prompt or request(), model, call))
    assert list(answer) == ["memory"]
    return answer["memory"], call


@pytest.mark.parametrize("answer", TEXTS)
async def test_mem0_gets_only_the_shape_that_it_takes(chat_model: OpenAIChatModel, brain: Brain, answer: str) -> None:
    brain.will_extract(answer)
    found, _ = await extracted(chat_model)
    assert [one["text"] for one in found] == TEXTS[answer]
    assert len(brain.asked) == 1


@pytest.mark.parametrize("answer", NOTHING)
async def test_nothing_to_remember_is_taken_at_its_word(chat_model: OpenAIChatModel, brain: Brain, answer: str) -> None:
    brain.will_extract(answer)
    assert (await extracted(chat_model))[0] == []
    assert len(brain.asked) == 1


@pytest.mark.parametrize("answer", [answer for answer in USELESS if len(answer) < 1000])
async def test_a_useless_answer_is_asked_for_once_more(chat_model: OpenAIChatModel, brain: Brain, answer: str) -> None:
    brain.will_extract(reply(text(answer) if answer else reasoning("hm")), memories("I moved to Rome"))
    found, _ = await extracted(chat_model)
    assert found == [{"text": "I moved to Rome"}]
    assert "not the JSON object" in brain.asked[1].messages[-1]["content"]


async def test_two_useless_answers_are_a_failure_and_not_nothing(chat_model: OpenAIChatModel, brain: Brain) -> None:
    brain.will_extract("I would rather not.", "Really, no.")
    with pytest.raises(ExtractionError, match=r"m gave 'Really, no.' instead of JSON, twice"):
        await extracted(chat_model)
    assert len(brain.asked) == 2


async def test_reasoning_is_not_searched_for_memories(chat_model: OpenAIChatModel, brain: Brain) -> None:
    brain.will_extract(reply(reasoning('{"memory": [{"text": "only thought"}]}'), text(memories("said"))))
    assert (await extracted(chat_model))[0] == [{"text": "said"}]


async def test_a_dead_endpoint_is_the_endpoints_failure(openai_server: FakeServer) -> None:
    await openai_server.stop()
    model = OpenAIChatModel("m", base_url=openai_server.base_url, retry=RetryPolicy(retries=0))
    with pytest.raises(ModelUnreachable):
        await extracted(model)
    await model.aclose()


async def test_a_model_that_breaks_off_is_not_asked_again(brain: Brain) -> None:
    model = ScriptedChatModel([ModelError("no luck")])
    with pytest.raises(ModelError, match="no luck"):
        await extracted(model)


async def test_a_large_window_gets_mem0s_instructions_and_a_small_or_unknown_one_ours() -> None:
    for size, is_ours in ((LARGE_WINDOW, False), (LARGE_WINDOW - 1, True), (None, True)):
        model = ScriptedChatModel([memories()], context_size=size)
        await extracted(model)
        system, user = model.requests[0].messages
        assert (system.get_text_content() == SHORT_INSTRUCTIONS) is is_ours
        assert "I moved to Rome" in (user.get_text_content() or "")


def test_our_instructions_are_short() -> None:
    from agent_core.tokens import estimate_tokens

    assert estimate_tokens(SHORT_INSTRUCTIONS + house_rules()) < 600


async def test_what_a_memory_replaces_is_found_by_what_the_model_was_told() -> None:
    answer = memories({"text": "I live in Rome", "replaces": ["0", "7"]}, {"text": "I like tea", "replaces": [1]})
    model = ScriptedChatModel([answer])
    _, call = await extracted(model, request(EXISTING, rules="a rule\n\n## Existing Memories\n[1]"))
    assert call.replacements == [
        Replacement("I live in Rome", "I live in Oslo"),
        Replacement("I like tea", 'I like "tea" [green]'),
    ]


async def test_what_replaces_nothing_that_is_there_replaces_nothing() -> None:
    model = ScriptedChatModel([memories({"text": "I live in Rome", "replaces": ["0"]})])
    _, call = await extracted(model, request([]))
    assert call.replacements == []


async def test_what_it_costs_is_added_up() -> None:
    model = ScriptedChatModel(["no", memories()])
    _, call = await extracted(model)
    assert call.usage is not None
    assert call.usage.output_tokens > 0


def test_the_rules_ask_for_the_users_language_and_say_what_day_it_is() -> None:
    rules = house_rules("Be brief.", date(2026, 11, 30))
    assert rules.startswith("Be brief.\n\n")
    assert "language in which the user wrote" in rules
    assert "2026-11-30" in rules
