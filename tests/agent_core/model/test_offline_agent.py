"""The offline model in a whole agent with agentic memory: told something, started again, asked."""

import os
from pathlib import Path

import pytest

from agent_core import Agent
from agent_core.event import RetrievalSettled, ToolEnded
from agent_core.message import ToolCallBlock
from agent_core.model import OfflineChatModel
from agent_core.permission import AdditionalWorkingDirectory, PermissionMode
from agent_core.tool import Edit, Read, ToolBase, Toolkit, Write
from memory.agentic.middleware import AgenticMemoryMiddleware


def new_agent(workdir: Path, *, tools: list[ToolBase] | None = None, grace: float = 0.0, **options: object) -> Agent:
    """An agent that remembers what others with the same `workdir` were told."""
    parameters = AgenticMemoryMiddleware.Parameters(retrieval_grace=grace)
    agent = Agent(
        name="assistant",
        system_prompt="You are a helpful assistant.",
        model=OfflineChatModel(),
        toolkit=Toolkit(tools=tools or [Read(), Write(), Edit()]),
        middlewares=[AgenticMemoryMiddleware(workdir=workdir, parameters=parameters)],
        **options,
    )
    permissions = agent.state.permission_context
    permissions.mode = PermissionMode.ACCEPT_EDITS
    permissions.working_directories[str(workdir)] = AdditionalWorkingDirectory(path=str(workdir), source="test")
    return agent


@pytest.mark.parametrize("grace", [0.0, 30.0])
async def test_told_in_chinese_and_asked_by_another_agent(tmp_path: Path, grace: float) -> None:
    told = await new_agent(tmp_path, grace=grace).reply("请记住：我住在杭州，并且偏好简洁的中文回答。")
    assert (told.get_text_content() or "").startswith("已记住：")
    assert sorted(os.listdir(tmp_path / "Memory")) == ["MEMORY.md", "feedback_answer_style.md", "user_profile.md"]
    agent = new_agent(tmp_path, tools=[Read(), Write()], grace=grace)
    answer = (await agent.reply("你还记得我的所在地和回答风格偏好吗？")).get_text_content() or ""
    assert "我住在杭州" in answer
    assert "我偏好简洁的中文回答" in answer
    assert "user_profile.md，保存于" in answer


async def test_given_time_the_hint_makes_opening_files_needless(tmp_path: Path) -> None:
    await new_agent(tmp_path).reply("remember that I live in Hangzhou and like short answers")
    agent = new_agent(tmp_path, grace=30.0)
    answer = await agent.reply("where do I live?")
    assert "“I live in Hangzhou” (user_profile.md, saved" in (answer.get_text_content() or "")
    settled = agent.trace.of(RetrievalSettled)
    assert [event.outcome for event in settled] == ["injected"]
    held = await agent.memory.get_memory()
    assert not any(msg.get_content_blocks(ToolCallBlock) for msg in held)


async def test_saving_asks_once_for_the_topic_and_its_line_of_the_index(tmp_path: Path) -> None:
    asked: list[str] = []

    async def approve(call: ToolCallBlock, diff: str) -> str:
        asked.append(call.name)
        assert diff
        return "once"

    agent = new_agent(tmp_path, approve=approve)
    agent.state.permission_context.mode = PermissionMode.DEFAULT
    answer = (await agent.reply("remember that I live in Hangzhou")).get_text_content() or ""
    assert asked == ["Write"]
    assert answer.startswith("Saved:\n- I live in Hangzhou")
    assert "listed in MEMORY.md" in answer


async def test_a_refusal_is_told(tmp_path: Path) -> None:
    async def approve(call: ToolCallBlock, diff: str) -> str:
        return "no"

    agent = new_agent(tmp_path, approve=approve)
    agent.state.permission_context.mode = PermissionMode.DEFAULT
    answer = (await agent.reply("remember that I live in Hangzhou")).get_text_content() or ""
    assert answer.startswith("I did not write this into a memory file:\n- I live in Hangzhou")
    assert "The user refused this call" in answer
    assert not (tmp_path / "Memory").exists()


async def test_with_no_one_to_ask_nothing_is_claimed(tmp_path: Path) -> None:
    agent = new_agent(tmp_path)
    agent.state.permission_context.mode = PermissionMode.DEFAULT
    answer = (await agent.reply("remember that I live in Hangzhou")).get_text_content() or ""
    assert answer.startswith("I did not write this into a memory file:\n- I live in Hangzhou")
    assert "no one to ask" in answer
    assert not (tmp_path / "Memory").exists()


async def test_the_first_memory_is_saved_without_looking_for_an_index_that_is_not_there(tmp_path: Path) -> None:
    agent = new_agent(tmp_path)
    await agent.reply("remember that I live in Hangzhou")
    calls = [event.tool for event in agent.trace.of(ToolEnded)]
    assert calls == ["Write", "Write"]
    await agent.reply("remember that I like tea")
    later = [event.tool for event in agent.trace.of(ToolEnded)][2:]
    assert later[0] == "Read"
    assert all(event.state == "success" for event in agent.trace.of(ToolEnded))
