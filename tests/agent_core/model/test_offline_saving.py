"""The offline model saves what it is asked to remember, through ordinary tool calls."""

from pathlib import Path

import frontmatter
import pytest

from agent_core.message import ToolCallBlock
from agent_core.tool import Read, Write
from tests.agent_core.model.offline_chat import DATE, OfflineChat


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "Memory"


@pytest.fixture
def chat(folder: Path) -> OfflineChat:
    return OfflineChat(folder)


async def test_a_first_wish_makes_topic_files_and_the_index(chat: OfflineChat) -> None:
    answer = await chat.say("remember that I live in Hangzhou and like short answers")
    assert chat.made() == [
        ("Read", "MEMORY.md"),
        ("Write", "user_profile.md"),
        ("Write", "feedback_answer_style.md"),
        ("Write", "MEMORY.md"),
    ]
    assert chat.read("MEMORY.md") == (
        "- [User profile](user_profile.md) — The user said: I live in Hangzhou\n"
        "- [Answer style](feedback_answer_style.md) — The user said: I like short answers\n"
    )
    profile = frontmatter.loads(chat.read("user_profile.md"))
    assert profile.metadata == {
        "name": "User profile",
        "description": "The user said: I live in Hangzhou",
        "type": "user",
    }
    assert profile.content == f"- I live in Hangzhou ({DATE})"
    assert "Saved:" in answer
    assert "I live in Hangzhou" in answer
    assert "user_profile.md" in answer
    assert str(chat.folder) in answer


async def test_feedback_says_why_and_how_to_apply_it(chat: OfflineChat) -> None:
    await chat.say("Please note that I prefer short answers because I read on a phone")
    style = frontmatter.loads(chat.read("feedback_answer_style.md"))
    assert style["type"] == "feedback"
    assert "**Why:** I read on a phone\n" in style.content
    assert "**How to apply:**" in style.content


async def test_chinese_is_kept_in_chinese(chat: OfflineChat) -> None:
    answer = await chat.say("请记住：我住在杭州，并且偏好简洁的中文回答。")
    assert chat.read("MEMORY.md") == (
        "- [用户资料](user_profile.md) — 用户说：我住在杭州\n"
        "- [回答风格](feedback_answer_style.md) — 用户说：我偏好简洁的中文回答\n"
    )
    assert "- 我住在杭州" in chat.read("user_profile.md")
    assert answer.startswith("已记住：")


async def test_a_later_fact_extends_its_file_by_edits(chat: OfflineChat) -> None:
    await chat.say("remember that I live in Hangzhou")
    await chat.say("remember that I work at Acme")
    assert chat.made() == [
        ("Read", "MEMORY.md"),
        ("Read", "user_profile.md"),
        ("Edit", "user_profile.md"),
        ("Edit", "user_profile.md"),
        ("Edit", "MEMORY.md"),
    ]
    profile = frontmatter.loads(chat.read("user_profile.md"))
    assert profile.content == f"- I live in Hangzhou ({DATE})\n- I work at Acme ({DATE})"
    assert profile["description"] == "The user said: I live in Hangzhou; I work at Acme"
    assert chat.read("MEMORY.md") == (
        "- [User profile](user_profile.md) — The user said: I live in Hangzhou; I work at Acme\n"
    )


async def test_another_subject_gets_a_file_and_a_line_of_its_own(chat: OfflineChat) -> None:
    await chat.say("remember that I live in Hangzhou")
    await chat.say("remember that the release moved to Monday")
    assert chat.files() == ["MEMORY.md", "project_release_moved_monday.md", "user_profile.md"]
    assert chat.read("MEMORY.md").splitlines()[1] == (
        "- [the release moved to Monday](project_release_moved_monday.md) — The user said: the release moved to Monday"
    )
    assert chat.read("MEMORY.md").endswith("\n")
    await chat.say("note that the release on Monday needs a changelog")
    assert "needs a changelog" in chat.read("project_release_moved_monday.md")


@pytest.mark.parametrize("again", ["remember that I live in Hangzhou", "Remember: i live in  HANGZHOU!"])
async def test_the_same_fact_is_not_saved_twice(chat: OfflineChat, again: str) -> None:
    await chat.say("remember that I live in Hangzhou")
    before = {name: chat.read(name) for name in chat.files()}
    answer = await chat.say(again)
    assert {name: chat.read(name) for name in chat.files()} == before
    assert answer.startswith("I know that already")


async def test_of_two_facts_only_the_new_one_is_saved(chat: OfflineChat) -> None:
    await chat.say("remember that I live in Hangzhou")
    answer = await chat.say("remember that I live in Hangzhou and work at Acme")
    assert chat.read("user_profile.md").count("I live in Hangzhou") == 2  # in the description and in the body
    assert answer.splitlines()[:2] == ["Saved:", "- I work at Acme"]


async def test_files_that_somebody_else_wrote_are_extended_not_replaced(chat: OfflineChat) -> None:
    chat.folder.mkdir()
    (chat.folder / "user_facts.md").write_text(
        "---\r\nname: Facts\r\ndescription: Who the user is: a 'teacher'\r\ntype: user\r\n---\r\n\r\n"
        "The user teaches.\r\n",
        newline="",
    )
    (chat.folder / "MEMORY.md").write_text("# Index\n\n- [Facts](user_facts.md) — who the user is.\n\n")
    await chat.say("remember that I live in Hangzhou")
    data = (chat.folder / "user_facts.md").read_bytes()
    assert data == (
        b"---\r\nname: Facts\r\n"
        b"description: \"Who the user is: a 'teacher'; I live in Hangzhou\"\r\n"
        b"type: user\r\n---\r\n\r\nThe user teaches.\r\n\r\n- I live in Hangzhou (2025-06-15)\r\n"
    )
    assert chat.read("MEMORY.md") == "# Index\n\n- [Facts](user_facts.md) — who the user is; I live in Hangzhou\n\n"


async def test_a_file_that_the_index_does_not_list_is_read_before_it_is_extended(chat: OfflineChat) -> None:
    chat.folder.mkdir()
    (chat.folder / "user_profile.md").write_text("- I like tea\n")
    answer = await chat.say("remember that I live in Hangzhou")
    assert chat.read("user_profile.md") == f"- I like tea\n- I live in Hangzhou ({DATE})\n"
    assert "(user_profile.md)" in chat.read("MEMORY.md")
    assert answer.startswith("Saved:")


async def test_a_line_whose_file_is_gone_gets_its_file_back(chat: OfflineChat) -> None:
    chat.folder.mkdir()
    (chat.folder / "MEMORY.md").write_text("- [User profile](user_profile.md) — gone\n")
    await chat.say("remember that I live in Hangzhou")
    assert "I live in Hangzhou" in chat.read("user_profile.md")
    assert chat.read("MEMORY.md").count("user_profile.md") == 1


async def test_an_empty_index_is_written_anew(chat: OfflineChat) -> None:
    chat.folder.mkdir()
    (chat.folder / "MEMORY.md").write_text("")
    await chat.say("remember that I live in Hangzhou")
    assert "(user_profile.md)" in chat.read("MEMORY.md")


async def test_a_full_topic_is_followed_by_a_second_file(chat: OfflineChat) -> None:
    for number in range(12):
        await chat.say(f"remember that I own house number {number} in the long street of the village")
    assert {"user_profile.md", "user_profile_2.md"} <= set(chat.files())
    assert all(len(line) < 300 for line in chat.read("MEMORY.md").splitlines())
    bodies = "".join(chat.read(name) for name in chat.files() if name != "MEMORY.md")
    assert all(f"- I own house number {number} in" in bodies for number in range(12))


async def test_many_facts_in_one_conversation_never_reuse_a_call_id(chat: OfflineChat) -> None:
    for fact in ("I live in Rome", "I work at Acme", "the release is on Monday"):
        await chat.say(f"remember that {fact}")
    calls = [block.id for msg in chat.messages for block in msg.get_content_blocks(ToolCallBlock)]
    assert len(calls) == len(set(calls))


AWKWARD = [
    'my motto is: "carpe: diem" # not a comment',
    "my password hint is 'it''s {a: b}, [c]'",
    "I say --- and ... and %YAML &a *b !!python/object:x",
    "my path is C:\\data\\uface\\ubeef1.md",
    "I like 🙂 👩‍👩‍👧 and é",
    "I use tabs\tand \x1b[31mred\x1b[0m \x07 \x85 \u2028 \ufffe",
    "I like [x](y.md) and [/bold] <b>html</b>",
    "my half emoji is \ud83d here",
    "yes",
    "null",
    "- - -",
    "I like 'single' and ''double'' quotes",
    "me: |\n  block",
    "my list:\n---\nname: evil\ntype: project\n---\n# heading\n- [x](y.md)",
    "我的口号是：“a: b” # c",
    "🙂🙂",
]


@pytest.mark.parametrize("fact", AWKWARD)
async def test_whatever_is_told_gives_a_valid_header_and_one_index_line(chat: OfflineChat, fact: str) -> None:
    """F06, F12, F17, F20: colons, hashes, quotes, tags and backslashes in a value stay text."""
    await chat.say("remember that I live in Hangzhou")
    await chat.say(f"remember: {fact}")
    await chat.say("remember that I work at Acme")
    topics = [name for name in chat.files() if name != "MEMORY.md"]
    for name in topics:
        post = frontmatter.loads(chat.read(name))
        assert set(post.metadata) == {"name", "description", "type"}
        assert post["type"] in {"user", "feedback", "project", "reference"}
        assert all(isinstance(value, str) for value in post.metadata.values())
        assert "\n---" not in post.content
    lines = chat.read("MEMORY.md").splitlines()
    assert len(lines) == len(topics)
    assert all(line.count("](") == 1 for line in lines)


async def test_a_fact_of_many_lines_is_kept_whole_inside_its_item(chat: OfflineChat) -> None:
    await chat.say("Remember this:\nthe plan\n\n---\nstep one\n  step two")
    (name,) = [name for name in chat.files() if name.startswith(("project", "reference"))]
    body = frontmatter.loads(chat.read(name)).content
    assert body == f"- the plan\n\n  ---\n  step one\n    step two ({DATE})"


async def test_a_hundred_kilobytes_are_saved_in_a_file_of_their_own(chat: OfflineChat) -> None:
    await chat.say("remember that I live in Hangzhou")
    text = "lorem ipsum " * 9_000
    answer = await chat.say(f"remember this: {text}")
    (name,) = [name for name in chat.files() if name.startswith("reference")]
    assert text.strip() in chat.read(name)
    assert len(answer) < 1_000
    await chat.say("remember that I work at Acme")
    assert "Acme" in chat.read("user_profile.md")


@pytest.mark.parametrize(
    ("before", "wish", "fact"),
    [
        ("my dog is called Rex", "please remember that", "my dog is called Rex"),
        ("我的狗叫旺财", "记住这个", "我的狗叫旺财"),
        ("remember that I live in Rome", "remember that", "I live in Rome"),
    ],
)
async def test_remember_that_means_what_was_said_before(chat: OfflineChat, before: str, wish: str, fact: str) -> None:
    await chat.say(before)
    await chat.say(wish)
    assert fact in chat.read("user_profile.md")


@pytest.mark.parametrize(
    ("before", "wish"), [("", "remember"), ("where do I live?", "remember that"), ("write a poem", "remember this")]
)
async def test_with_nothing_to_remember_it_asks_what(chat: OfflineChat, before: str, wish: str) -> None:
    if before:
        await chat.say(before)
    answer = await chat.say(wish)
    assert answer.startswith("What shall I remember?")
    assert chat.files() == []


@pytest.mark.parametrize("denied", ["Write", "Read"])
async def test_a_refused_call_is_told_and_nothing_is_claimed(folder: Path, denied: str) -> None:
    chat = OfflineChat(folder, denied=[denied])
    answer = await chat.say("remember that I live in Hangzhou")
    assert answer.startswith("I did not write this into a memory file:\n- I live in Hangzhou")
    assert f"{denied} was not allowed (The user refused this call)" in answer
    assert "Do not repeat" not in answer
    assert "Saved" not in answer
    assert chat.files() == []
    assert [name for name, _ in chat.made()].count(denied) == 1


async def test_a_refused_index_is_told_but_the_topic_is_saved(folder: Path) -> None:
    chat = OfflineChat(folder)
    await chat.say("remember that the release moved to Monday")
    chat.denied = {"Edit"}
    answer = await chat.say("remember that I live in Hangzhou")
    assert "MEMORY.md does not list it yet: Edit was not allowed" in answer
    assert "I live in Hangzhou" in chat.read("user_profile.md")


async def test_one_refused_topic_does_not_stop_the_other(folder: Path) -> None:
    chat = OfflineChat(folder, denied=["user_profile.md"])
    answer = await chat.say("remember that I live in Hangzhou and like short answers")
    assert answer.index("Saved:\n- I like short answers") < answer.index(
        "I did not write this into a memory file:\n- I live in Hangzhou"
    )
    assert "user_profile" not in chat.read("MEMORY.md")
    assert "feedback_answer_style" in chat.read("MEMORY.md")


async def test_a_refusal_in_chinese_is_told_in_chinese(folder: Path) -> None:
    chat = OfflineChat(folder, denied=["Write"])
    assert (await chat.say("请记住我住在杭州")).startswith("这些没有写入记忆文件：\n- 我住在杭州")


async def test_an_index_that_is_no_text_is_not_overwritten(chat: OfflineChat) -> None:
    chat.folder.mkdir()
    (chat.folder / "MEMORY.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\0")
    answer = await chat.say("remember that I live in Hangzhou")
    assert (chat.folder / "MEMORY.md").read_bytes().startswith(b"\x89PNG")
    assert "MEMORY.md does not list it yet" in answer


async def test_without_tools_it_says_that_it_cannot_save(folder: Path) -> None:
    assert "cannot save" in await OfflineChat(folder, tools=[Read()]).say("remember that I live in Rome")
    assert "无法保存" in await OfflineChat(folder, tools=[]).say("请记住我住在杭州")


async def test_without_edit_files_are_read_and_written_as_a_whole(folder: Path) -> None:
    chat = OfflineChat(folder, tools=[Read(), Write()])
    for fact in ("I live in Rome", "I work at Acme", "the release is on Monday"):
        assert (await chat.say(f"remember that {fact}")).startswith("Saved:")
    assert frontmatter.loads(chat.read("user_profile.md")).content == (
        f"- I live in Rome ({DATE})\n- I work at Acme ({DATE})"
    )
    assert len(chat.read("MEMORY.md").splitlines()) == 2


async def test_what_is_saved_but_not_listed_is_listed_the_next_time(folder: Path) -> None:
    chat = OfflineChat(folder, denied=["Write MEMORY.md"])
    assert "MEMORY.md does not list it yet" in await chat.say("remember that I live in Rome")
    chat.denied = set()
    assert (await chat.say("remember that I live in Rome")).startswith("I know that already")
    assert chat.read("MEMORY.md") == "- [User profile](user_profile.md) — The user said: I live in Rome\n"


@pytest.mark.parametrize(
    "text", ["don't remember this: my PIN is 1234", "不要记住：我的密码是 1234", "forget where I live"]
)
async def test_what_is_to_be_kept_out_is_not_saved(chat: OfflineChat, text: str) -> None:
    await chat.say(text)
    assert chat.calls == []
    assert chat.files() == []
