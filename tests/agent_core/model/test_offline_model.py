"""`OfflineChatModel` answers whatever is typed, the way every model does, and says what it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.message import AssistantMsg, HintBlock, Msg, TextBlock, UserMsg
from agent_core.model import Finished, ModelDelta, OfflineChatModel, TextDelta
from tests.agent_core.model.offline_chat import OfflineChat


@pytest.fixture
def chat(tmp_path: Path) -> OfflineChat:
    return OfflineChat(tmp_path / "Memory")


async def deltas_for(messages: list[Msg]) -> list[ModelDelta]:
    return [delta async for delta in OfflineChatModel().stream(messages)]


def test_it_says_what_it_is() -> None:
    model = OfflineChatModel()
    assert (model.model, model.endpoint, model.is_language_model) == ("offline", "this machine", False)


@pytest.mark.parametrize("text", ["hello", "help", "?", "write a Python function", "who are you?", "", "🙂"])
async def test_anything_else_is_answered_with_what_it_can_do(chat: OfflineChat, text: str) -> None:
    answer = await chat.say(text)
    for part in (
        "No language model is connected",
        "mnemoscope --model",
        "--base-url",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ):
        assert part in answer
    assert chat.calls == []


@pytest.mark.parametrize("text", ["你好", "你能做什么？", "帮我写一段代码", "怎么连接模型？"])
async def test_in_chinese_it_answers_in_chinese(chat: OfflineChat, text: str) -> None:
    answer = await chat.say(text)
    assert "没有连接语言模型" in answer
    assert "mnemoscope --model" in answer
    assert "OPENAI_API_KEY" in answer


async def test_the_introduction_is_given_once(chat: OfflineChat) -> None:
    first, second = await chat.say("hello"), await chat.say("write a poem")
    assert len(second) < len(first) / 3
    assert "mnemoscope --model" in second


async def test_a_text_without_words_is_answered_in_the_language_of_before(chat: OfflineChat) -> None:
    await chat.say("你好")
    assert "语言模型" in await chat.say("🙂")


async def test_told_something_it_offers_to_keep_it(chat: OfflineChat) -> None:
    assert "say “remember that”" in await chat.say("I live in Hangzhou.")
    assert "说“请记住”" in await chat.say("你好，我喜欢喝茶。")


async def test_asked_to_forget_it_says_where_the_files_are(chat: OfflineChat) -> None:
    assert f"`{chat.folder}`" in await chat.say("forget that I live in Hangzhou")
    assert "普通文件" in await chat.say("请忘记我住在杭州")


async def test_the_answer_streams_in_pieces_and_ends_once_with_usage() -> None:
    deltas = await deltas_for([UserMsg("user", "hello")])
    assert len(deltas) > 5
    assert all(isinstance(delta, TextDelta) for delta in deltas[:-1])
    end = deltas[-1]
    assert isinstance(end, Finished)
    assert end.reason == "stop"
    assert end.usage is not None
    assert end.usage.input_tokens > 0
    assert end.usage.output_tokens > 20


async def test_the_same_request_gets_the_same_answer() -> None:
    messages: list[Msg] = [UserMsg("user", "where do I live?"), AssistantMsg("memory", [HintBlock("I live in Rome")])]
    assert await deltas_for(messages) == await deltas_for(messages)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [AssistantMsg("assistant", "hello")],
        [UserMsg("user", [])],
        [UserMsg("user", [TextBlock(""), TextBlock("")])],
    ],
)
async def test_a_request_without_a_question_is_answered_too(messages: list[Msg]) -> None:
    assert isinstance((await deltas_for(messages))[-1], Finished)


WEIRD = [
    "\ud83d",
    "remember \ud83d\ud83d",
    "\x00\x1b[2J\x9b",
    "[/x] [bold]{0} {text} %s <b>",
    "](",
    "remember ](/etc/passwd)",
    "remember: " + "../" * 50,
    "where " * 20_000,
    "remember " * 12_000,
    "请记住" * 30_000,
    "?" * 100_000,
    " " * 100_000,
    "a" * 100_000,
    "🙂" * 100_000,
    "\n" * 100_000,
    ", and I " * 12_000,
    "مرحبا كيف حالك؟",
    "日本に住んでいます",
    "나는 서울에 살아요",
]


@pytest.mark.parametrize("text", WEIRD, ids=range(len(WEIRD)))
async def test_weird_input_is_answered(chat: OfflineChat, text: str) -> None:
    answer = await chat.say(text)
    assert answer
    assert len(answer) < 3_000
    outside = [path for path in chat.folder.parent.rglob("*") if chat.folder not in (path, *path.parents)]
    assert outside == []


async def test_long_conversations_are_answered(chat: OfflineChat) -> None:
    chat.messages += [UserMsg("user", f"I like number {number}. " * 40) for number in range(1_000)]
    await chat.say("I live in Hangzhou")
    assert "“I live in Hangzhou”" in await chat.say("where do I live?")


def test_its_rules_are_not_loaded_before_they_are_needed() -> None:
    code = "import sys, agent_core.model; print([name for name in sys.modules if 'offline.' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
