"""Permissions of the memory folder: one question for one save, none where edits are accepted, and always for risks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.agent import Agent
from agent_core.event import Answer, PermissionAsked, ToolEnded
from agent_core.message import ToolCallBlock
from agent_core.model.scripted_model import ScriptedChatModel, Turn
from agent_core.permission import AdditionalWorkingDirectory, PermissionBehavior, PermissionMode, PermissionRule
from agent_core.tool import Edit, Read, Toolkit, Write
from memory.agentic import AgenticMemoryMiddleware
from tests.memory.agentic.agents import pick
from tests.memory.agentic.books import TEA, TEA_LINE, tree
from tests.memory.agentic.folders import put
from tests.memory.agentic.test_recording import call, write

SECRET = "the wifi password is " + "hunter22"


def agent_in(
    workdir: Path, *turns: Turn, mode: PermissionMode = PermissionMode.DEFAULT, answers: Sequence[Answer] = ()
) -> Agent:
    """An agent with the folder as its working directory, and a person who gives these answers."""
    given = iter(answers)

    async def approve(asked: ToolCallBlock, diff: str) -> Answer:
        return next(given)

    model = ScriptedChatModel(turns, structured=[pick()] * 20)
    memory = AgenticMemoryMiddleware(workdir)
    agent = Agent("a", "You help.", model, Toolkit([Read(), Write(), Edit()]), [memory], approve=approve)
    context = agent.state.permission_context
    context.mode = mode
    context.working_directories[str(workdir)] = AdditionalWorkingDirectory(str(workdir))
    return agent


def questions(agent: Agent) -> list[str]:
    return [event.question for event in agent.trace.of(PermissionAsked)]


def states(agent: Agent) -> list[str]:
    return [event.state for event in agent.trace.of(ToolEnded)]


def save(workdir: Path, number: int = 1) -> list[ToolCallBlock]:
    """What saving one memory takes: the topic file and its line."""
    return [
        write(workdir, f"tea{number}.md", TEA, number * 10),
        write(workdir, f"index{number}.md" if number > 1 else "MEMORY.md", TEA_LINE, number * 10 + 1),
    ]


async def test_a_save_asks_once_for_the_file_and_its_line(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, save(tmp_path), "done", answers=["once"])
    await agent.reply("remember")
    assert len(questions(agent)) == 1
    assert "tea1.md" in questions(agent)[0]
    assert states(agent) == ["success", "success"]


async def test_once_is_for_this_reply_only(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, save(tmp_path), "done", save(tmp_path, 2), "done", answers=["once", "once"])
    await agent.reply("remember")
    await agent.reply("remember more")
    assert len(questions(agent)) == 2


async def test_always_is_for_the_whole_folder_and_both_tools(tmp_path: Path) -> None:
    edit = call("Edit", 5, file_path=str(tmp_path / "Memory/tea1.md"), old_string="Likes", new_string="Loves")
    read = call("Read", 4, file_path=str(tmp_path / "Memory/tea1.md"))
    sub = write(tmp_path, "sub/new.md", TEA, 6)
    agent = agent_in(tmp_path, save(tmp_path), "done", [read], [edit, sub], "done", answers=["always"])
    await agent.reply("remember")
    await agent.reply("correct")
    assert len(questions(agent)) == 1
    assert states(agent) == ["success"] * 5


async def test_no_is_for_this_call_only(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, save(tmp_path), "done", answers=["no", "once"])
    await agent.reply("remember")
    assert states(agent) == ["denied", "success"]


async def test_yes_to_memory_is_not_yes_to_anything_else(tmp_path: Path) -> None:
    other = call("Write", 9, file_path=str(tmp_path / "code.py"), content="x")
    agent = agent_in(tmp_path, [*save(tmp_path), other], "done", answers=["once", "no"])
    await agent.reply("remember")
    assert states(agent) == ["success", "success", "denied"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (PermissionMode.EXPLORE, ["denied", "denied"]),
        (PermissionMode.DONT_ASK, ["denied", "denied"]),
        (PermissionMode.ACCEPT_EDITS, ["success", "success"]),
        (PermissionMode.BYPASS, ["success", "success"]),
    ],
)
async def test_the_other_modes_do_not_ask(tmp_path: Path, mode: PermissionMode, expected: list[str]) -> None:
    agent = agent_in(tmp_path, save(tmp_path), "done", mode=mode)
    await agent.reply("remember")
    assert (states(agent), questions(agent)) == (expected, [])


async def test_accepted_edits_are_accepted_wherever_the_memory_is(tmp_path: Path) -> None:
    """A scope of its own: the folder need not be a working directory."""
    agent = agent_in(tmp_path, save(tmp_path), "done", mode=PermissionMode.ACCEPT_EDITS)
    agent.state.permission_context.working_directories.clear()
    await agent.reply("remember")
    assert states(agent) == ["success", "success"]


async def test_rules_that_deny_or_want_to_be_asked_come_first(tmp_path: Path) -> None:
    pattern = f"{tmp_path}/Memory/**"
    agent = agent_in(tmp_path, save(tmp_path), "done", save(tmp_path, 2), "done", answers=["once", "once"])
    rules = agent.state.permission_context.rules
    rules.append(PermissionRule("Write", pattern, PermissionBehavior.ASK))
    await agent.reply("remember")
    assert len(questions(agent)) == 2
    rules[:] = [PermissionRule("Write", pattern, PermissionBehavior.DENY)]
    await agent.reply("remember")
    assert states(agent)[2:] == ["denied", "denied"]


async def test_a_file_with_secrets_of_other_programs_is_no_memory_like_others(tmp_path: Path) -> None:
    calls = [write(tmp_path, "tea.md", TEA), write(tmp_path, ".env", "X=1", 2)]
    agent = agent_in(tmp_path, calls, "done", answers=["once", "no"])
    await agent.reply("remember")
    assert states(agent) == ["success", "denied"]


@pytest.mark.parametrize("mode", [PermissionMode.DEFAULT, PermissionMode.ACCEPT_EDITS])
async def test_a_likely_secret_asks_whatever_was_allowed(tmp_path: Path, mode: PermissionMode) -> None:
    calls = [write(tmp_path, "tea.md", TEA), write(tmp_path, "wifi.md", SECRET, 2)]
    agent = agent_in(tmp_path, calls, "done", mode=mode, answers=["no"])
    agent.state.permission_context.rules.append(PermissionRule("Write", f"{tmp_path}/Memory/**"))
    await agent.reply("remember")
    assert states(agent)[-1] == "denied"
    assert "line 1 holds what looks like a password" in questions(agent)[-1]
    assert "hunter22" not in questions(agent)[-1]
    assert sorted(tree(tmp_path)) == ["tea.md"]


async def test_yes_to_a_risk_is_yes_to_the_rest_of_the_save(tmp_path: Path) -> None:
    calls = [write(tmp_path, "wifi.md", SECRET), write(tmp_path, "MEMORY.md", "- [wifi](wifi.md)\n", 2)]
    agent = agent_in(tmp_path, calls, "done", answers=["once"])
    await agent.reply("remember")
    assert (states(agent), len(questions(agent))) == (["success", "success"], 1)


async def test_losing_more_than_half_of_a_file_asks(tmp_path: Path) -> None:
    path = put(tmp_path, "long.md", "a line of text\n" * 50)
    read = call("Read", 1, file_path=str(path))
    calls = [[read], [write(tmp_path, "long.md", "short", 2)], "done"]
    agent = agent_in(tmp_path, *calls, mode=PermissionMode.ACCEPT_EDITS, answers=["no"])
    await agent.reply("shorten")
    assert "745 of its 750 bytes are removed" in questions(agent)[0]
    assert path.read_text() == "a line of text\n" * 50


async def test_a_risk_is_denied_where_nobody_is_asked_and_let_pass_where_all_is(tmp_path: Path) -> None:
    for mode, expected in ((PermissionMode.DONT_ASK, "denied"), (PermissionMode.BYPASS, "success")):
        agent = agent_in(tmp_path, [write(tmp_path, f"{expected}.md", SECRET)], "done", mode=mode)
        agent.state.permission_context.rules.append(PermissionRule("Write", f"{tmp_path}/Memory/**"))
        await agent.reply("remember")
        assert (states(agent), questions(agent)) == ([expected], [])


async def test_a_call_that_will_fail_is_asked_about_like_any_other(tmp_path: Path) -> None:
    edit = call("Edit", 1, file_path=str(tmp_path / "Memory/none.md"), old_string="a", new_string="b")
    agent = agent_in(tmp_path, [edit], "done", answers=["once"])
    await agent.reply("edit")
    assert (states(agent), len(questions(agent))) == (["error"], 1)


async def test_reading_memories_asks_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "wifi.md", SECRET)
    agent = agent_in(tmp_path, [call("Read", 1, file_path=str(path))], "done")
    await agent.reply("read")
    assert (states(agent), questions(agent)) == (["success"], [])


async def test_memories_are_read_without_a_question_where_the_folder_is_no_working_directory(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", TEA)
    outside = put(tmp_path / "elsewhere", "other.md", "x")
    inside = tmp_path / "Memory" / "tea.md"
    turn = [call("Read", 1, file_path=str(inside)), call("Read", 2, file_path=str(outside))]
    agent = agent_in(tmp_path, turn, "done", answers=["no"])
    agent.state.permission_context.working_directories.clear()
    await agent.reply("q")
    ended = {event.call_id: event.state for event in agent.trace.of(ToolEnded)}
    assert ended == {"call-1": "success", "call-2": "denied"}
