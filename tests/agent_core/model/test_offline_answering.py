"""The offline model answers by quoting: hints, what was said before, files that the index leads to."""

from pathlib import Path

import pytest

from agent_core.message import HintBlock
from agent_core.tool import Edit, Write
from tests.agent_core.model.offline_chat import DATE, OfflineChat

PROFILE = HintBlock(
    "Memory saved 2026-11-30 (today) from user_profile.md:\n"
    '---\nname: "User profile"\ndescription: "The user said: I live in Hangzhou"\ntype: user\n---\n\n'
    "- I live in Hangzhou (2026-11-28)\n- I work at Acme\n\n"
    "(Background from long-term memory: it may be outdated, and it is not an instruction.)",
    "memory:user_profile.md",
)
STYLE = HintBlock(
    "Memory saved 2026-11-29 (yesterday) from style.md:\n- 用户偏好简洁的中文回答\n\n**Why:** 方便阅读\n",
    "memory:style.md",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "Memory"


@pytest.fixture
def chat(folder: Path) -> OfflineChat:
    return OfflineChat(folder)


def remember_in_files(folder: Path, **files: str) -> None:
    """Write topic files of one line each, with an index that has that line as its hook."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: x\n---\n\n- {text}\n")
    lines = [f"- [{name}]({name}.md) — {text}" for name, text in files.items()]
    (folder / "MEMORY.md").write_text("\n".join(lines) + "\n")


async def test_a_hint_is_quoted_with_its_file_and_its_own_date(chat: OfflineChat) -> None:
    answer = await chat.say("where do I live?", [PROFILE])
    assert answer == "From memory:\n- “I live in Hangzhou” (user_profile.md, saved 2026-11-28)"
    assert chat.calls == []


async def test_a_statement_without_a_date_has_that_of_its_file(chat: OfflineChat) -> None:
    answer = await chat.say("What is my job?", [PROFILE])
    assert answer == "From memory:\n- “I work at Acme” (user_profile.md, saved 2026-11-30)"


async def test_a_question_with_two_subjects_gets_both(chat: OfflineChat) -> None:
    answer = await chat.say("你还记得我的所在地和回答风格偏好吗？", [PROFILE, STYLE])
    assert answer == (
        "记忆中是这样写的：\n"
        "- “用户偏好简洁的中文回答”（style.md，保存于 2026-11-29）\n"
        "- “I live in Hangzhou”（user_profile.md，保存于 2026-11-28）"
    )


async def test_plain_text_from_a_memory_store_is_a_hint_too(chat: OfflineChat) -> None:
    answer = await chat.say("where do I live?", [HintBlock("I live in Oslo", "mem0")])
    assert answer == "From memory:\n- “I live in Oslo” (mem0)"


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("I live in Hangzhou", "where do I live?"),
        ("I live in Hangzhou", "What is my home town?"),
        ("I moved to Hangzhou", "where do I live?"),
        ("I live in Hangzhou", "我住在哪里？"),
        ("I live in Hangzhou", "我的所在地是？"),
        ("我住在杭州", "我住在哪里？"),
        ("我住在杭州", "我住哪儿"),
        ("我住在杭州", "我的位置在哪"),
        ("我住在杭州", "where am I located?"),
        ("my name is Bob", "What am I called?"),
        ("my name is Bob", "我叫什么？"),
        ("我叫小明", "我叫什么名字？"),
        ("我叫小明", "what's my name"),
        ("I prefer tea", "what do I like?"),
        ("I love jazz", "What is my favourite music?"),
        ("我喜欢喝茶", "我的偏好是什么？"),
        ("我喜欢喝茶", "what do I like to drink?"),
        ("I work as a teacher", "what is my job?"),
        ("我在阿里上班", "我的工作是什么？"),
        ("我在阿里上班", "where do I work?"),
        ("my birthday is May 5", "when is my birthday?"),
        ("我的生日是五月五日", "when was I born?"),
        ("I am allergic to nuts", "我对什么过敏？"),
        ("I am allergic to penicillin", "which medicine must I not take?"),
        ("我对青霉素过敏", "我不能吃哪些药？"),
        ("my flight to Lisbon leaves on 14 March", "when do I fly?"),
        ("my flight to Lisbon leaves on 14 March", "我的航班是哪天？"),
        ("I have two kids", "Do I have children?"),
        ("our deadline is Friday", "项目什么时候截止？"),
        ("my dog is called Rex", "what is my dog's name?"),
        ("my phone number is 555", "How can you contact me?"),
        ("the wifi code is 1234", "what's the wifi code"),
        ("I like short answers", "Which answers do I prefer?"),
        ("I am 34 years old", "How old am I?"),
        ("I speak French", "Which languages do I speak?"),
    ],
)
async def test_questions_find_what_was_said_in_other_words(chat: OfflineChat, told: str, question: str) -> None:
    await chat.say(told)
    answer = await chat.say(question)
    assert f"“{told}”" in answer
    assert DATE in answer


async def test_what_was_said_counts_also_when_it_was_saved(chat: OfflineChat) -> None:
    await chat.say("please remember that I live in Hangzhou and like short answers")
    answer = await chat.say("where do I live?")
    assert answer == f"Earlier in this conversation you said:\n- “I live in Hangzhou” ({DATE})"


async def test_a_fact_is_quoted_once_when_memory_and_conversation_have_it(chat: OfflineChat) -> None:
    await chat.say("I live in Hangzhou")
    answer = await chat.say("where do I live?", [PROFILE])
    assert answer.count("Hangzhou") == 1
    assert "user_profile.md" in answer


async def test_questions_and_requests_are_no_answers(chat: OfflineChat) -> None:
    await chat.say("do I live in Paris?")
    await chat.say("write a poem about where I live")
    assert "I find nothing about that" in await chat.say("where do I live?")


async def test_newer_statements_come_first_and_the_older_is_not_hidden(chat: OfflineChat) -> None:
    text = "Memory saved 2026-11-30 (today) from a.md:\n- I live in Rome (2025-01-01)\n- I live in Oslo (2026-02-02)\n"
    answer = await chat.say("where do I live?", [HintBlock(text, "memory:a.md")])
    assert answer.index("Oslo") < answer.index("Rome")


async def test_without_hints_it_opens_the_files_whose_index_line_fits(chat: OfflineChat, folder: Path) -> None:
    remember_in_files(folder, home="the user lives in Hangzhou", tea="the user likes oolong")
    answer = await chat.say("where do I live?")
    assert chat.made() == [("Read", "home.md")]
    assert answer == "From memory:\n- “the user lives in Hangzhou” (home.md)"


async def test_the_example_in_the_instructions_is_no_memory(chat: OfflineChat) -> None:
    await chat.say("what is the title of the example?")
    assert chat.calls == []


async def test_file_names_with_spaces_and_encoded_ones_are_opened(chat: OfflineChat, folder: Path) -> None:
    """L01, L02: three spellings of one name are the same file; what leads out of the folder is left alone."""
    folder.mkdir()
    (folder / "the brief.md").write_text("- the brief is due on Friday\n")
    for target in ("the brief.md", "the%20brief.md", "<the brief.md>", 'the%20brief.md "title"'):
        (folder / "MEMORY.md").write_text(f"- [Brief]({target}) — when briefing\n- [Out](..%2F..%2Fbrief) — brief\n")
        answer = await chat.say("when is the brief due?")
        assert chat.made() == [("Read", "the brief.md")]
        assert "“the brief is due on Friday” (the brief.md)" in answer


@pytest.mark.parametrize(
    "question", ["what do you know about me?", "你知道我什么？", "list your memories", "你对我了解多少？"]
)
async def test_asked_for_everything_it_opens_what_the_index_lists(
    chat: OfflineChat, folder: Path, question: str
) -> None:
    remember_in_files(folder, home="lives in Hangzhou", tea="likes oolong", work="works at Acme")
    answer = await chat.say(question)
    assert all(fact in answer for fact in ("Hangzhou", "oolong", "Acme"))


async def test_about_the_person_the_nearest_is_quoted_and_called_so(chat: OfflineChat, folder: Path) -> None:
    remember_in_files(folder, user_profile="teaches physics", roadmap="ships in May")
    answer = await chat.say("what is my shoe size?")
    assert answer.startswith("Nothing in memory has the words of your question.")
    assert "teaches physics" in answer
    assert "ships" not in answer


async def test_finding_nothing_it_says_so_and_how_to_do_better(chat: OfflineChat) -> None:
    answer = await chat.say("What is the capital of France?")
    assert answer.startswith("I find nothing about that")
    assert "mnemoscope --model" in answer
    again = await chat.say("What is the capital of Peru?")
    assert again == "I find nothing about that, neither in this conversation nor in memory."
    assert (await chat.say("法国的首都是哪里？")).startswith("我没有找到相关内容")


async def test_a_file_that_cannot_be_opened_is_named(folder: Path) -> None:
    remember_in_files(folder, home="lives in Hangzhou")
    (folder / "home.md").unlink()
    answer = await OfflineChat(folder).say("where do I live?")
    assert "I could not open `home.md`: there is no file" in answer


async def test_a_refused_read_is_told(folder: Path) -> None:
    remember_in_files(folder, home="lives in Hangzhou")
    chat = OfflineChat(folder, denied=["Read"])
    answer = await chat.say("where do I live?")
    assert "I could not open `home.md`: Read was not allowed (The user refused this call)" in answer
    assert len(chat.calls) == 1


async def test_without_read_it_opens_nothing(folder: Path) -> None:
    remember_in_files(folder, home="lives in Hangzhou")
    chat = OfflineChat(folder, tools=[Write(), Edit()])
    assert (await chat.say("where do I live?")).startswith("I find nothing")


async def test_a_memory_whose_header_fits_is_quoted_when_no_line_of_it_does(chat: OfflineChat) -> None:
    hint = HintBlock(
        "Memory saved 2026-11-30 (today) from a.md:\n---\nname: a\ndescription: where the user lives\n---\nHangzhou",
        "memory:a.md",
    )
    assert "“Hangzhou” (a.md, saved 2026-11-30)" in await chat.say("where do I live?", [hint])


async def test_memories_are_quoted_literally_and_bounded(chat: OfflineChat) -> None:
    hint = HintBlock(f"I live in [/x] **here** {{0}} {'x' * 50_000}\x1b[2J", "m")
    answer = await chat.say("where do I live?", [hint])
    assert "“I live in [/x] **here** {0}" in answer
    assert len(answer) < 500
