"""The chapter on long-term memory: its program for agentic memory, with a model of ours for `my_chat_model`."""

from __future__ import annotations

from pathlib import Path

from agent_core.agent import Agent
from agent_core.event import RetrievalSettled
from agent_core.message import HintBlock, Msg
from agent_core.model import ChatModelBase, OfflineChatModel
from agent_core.permission import AdditionalWorkingDirectory, PermissionMode
from agent_core.tool import Edit, Read, Toolkit, Write
from memory import AgenticMemoryMiddleware
from memory.agentic import parse_header, parse_index


async def main(workdir: str, my_chat_model: ChatModelBase) -> tuple[Agent, Msg, Agent, Msg]:
    memory = AgenticMemoryMiddleware(workdir=workdir)

    agent = Agent(
        name="assistant",
        system_prompt="You are a helpful assistant.",
        model=my_chat_model,
        toolkit=Toolkit(tools=[Read(), Write(), Edit()]),
        middlewares=[memory],
    )

    agent.state.permission_context.mode = PermissionMode.ACCEPT_EDITS
    agent.state.permission_context.working_directories[workdir] = AdditionalWorkingDirectory(
        path=workdir, source="long-term-memory-demo"
    )

    saved = await agent.reply("请记住：我住在杭州，并且偏好简洁的中文回答。")

    new_agent = Agent(
        name="assistant",
        system_prompt="You are a helpful assistant.",
        model=my_chat_model,
        toolkit=Toolkit(tools=[Read(), Write()]),
        middlewares=[AgenticMemoryMiddleware(workdir=workdir)],
    )

    recalled = await new_agent.reply("你还记得我的所在地和回答风格偏好吗？")
    return agent, saved, new_agent, recalled


async def test_what_one_agent_was_told_another_one_recalls_from_the_same_workdir(tmp_path: Path) -> None:
    _, saved, new_agent, recalled = await main(str(tmp_path), OfflineChatModel())
    assert "杭州" in (saved.get_text_content() or "")
    answer = recalled.get_text_content() or ""
    assert "杭州" in answer
    assert "简洁的中文回答" in answer
    assert await new_agent.memory.entries()


async def test_the_files_have_the_form_that_the_chapter_shows(tmp_path: Path) -> None:
    await main(str(tmp_path), OfflineChatModel())
    folder = tmp_path / "Memory"
    index = (folder / "MEMORY.md").read_text()
    topics = sorted(path.name for path in folder.iterdir() if path.name != "MEMORY.md")
    assert topics
    for line in index.splitlines():
        assert line.startswith("- [")
        assert " — " in line
    assert sorted(entry.target for entry in parse_index(index)) == topics
    for name in topics:
        header = parse_header((folder / name).read_text()).fields
        assert header["name"]
        assert header["description"]
        assert header["type"] in ("user", "feedback", "project", "reference")
    assert "杭州" in "".join((folder / name).read_text() for name in topics)


async def test_the_index_is_in_the_new_agents_system_prompt_and_the_search_has_one_outcome(tmp_path: Path) -> None:
    _, _, new_agent, _ = await main(str(tmp_path), OfflineChatModel())
    index = (tmp_path / "Memory" / "MEMORY.md").read_text().strip()
    prompt = await new_agent.preview_prompt()
    assert index in (prompt.messages[0].get_text_content() or "")
    assert len(new_agent.trace.of(RetrievalSettled)) <= 1


async def test_with_patience_the_recalled_memory_is_a_hint_before_the_answer(tmp_path: Path) -> None:
    await main(str(tmp_path), OfflineChatModel())
    agent = Agent(
        name="assistant",
        system_prompt="You are a helpful assistant.",
        model=OfflineChatModel(),
        toolkit=Toolkit(tools=[Read(), Write()]),
        middlewares=[
            AgenticMemoryMiddleware(
                workdir=str(tmp_path), parameters=AgenticMemoryMiddleware.Parameters(retrieval_grace=30.0)
            )
        ],
    )
    answer = await agent.reply("我住在哪里？")
    entries = await agent.memory.entries()
    hints = [block for entry in entries for block in entry.msg.get_content_blocks(HintBlock)]
    assert any("杭州" in hint.hint for hint in hints)
    assert "杭州" in (answer.get_text_content() or "")
    assert [settled.outcome for settled in agent.trace.of(RetrievalSettled)] == ["injected"]
