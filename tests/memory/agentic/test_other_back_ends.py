"""Agentic memory from end to end where the files are elsewhere: nothing of it knows which back end it has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_core.agent import Agent
from agent_core.event import FileChanged, IndexRead, Noticed, RetrievalEnded, ToolEnded
from agent_core.message import HintBlock, ToolCallBlock
from agent_core.model.scripted_model import ScriptedChatModel, Turn
from agent_core.permission import PermissionMode
from agent_core.tool import Edit, FsspecBackend, Read, Toolkit, Write
from memory.agentic import AgenticMemoryMiddleware
from memory.agentic.memory_disk import MemoryConflict
from tests.contract.file_backends import Place, place
from tests.memory.agentic.agents import pick

__all__ = ["place"]

TEA = b"---\nname: Tea\ndescription: likes oolong\ntype: user\n---\n\nLikes oolong, never green tea.\n"
INDEX = "- [Tea](tea.md) — likes oolong\n".encode()


def call(tool: str, **arguments: str) -> ToolCallBlock:
    return ToolCallBlock(f"call-{tool}", tool, json.dumps(arguments))


def agent_on(memory: AgenticMemoryMiddleware, *turns: Turn, select: tuple[str, ...] = ("tea.md",)) -> Agent:
    backend = memory.folder.backend
    model = ScriptedChatModel(turns, structured=[pick(*select)] * 20)
    agent = Agent("a", "You help.", model, Toolkit([Read(backend), Write(backend), Edit(backend)]), [memory])
    agent.state.permission_context.mode = PermissionMode.BYPASS
    return agent


@pytest.fixture(params=["beside", "on this machine"])
def memory(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> AgenticMemoryMiddleware:
    """A memory, its history kept beside it or on this machine."""
    history = tmp_path / "history" if request.param == "on this machine" else None
    parameters = AgenticMemoryMiddleware.Parameters(retrieval_grace=30.0, retrieval_embedder=None)
    return AgenticMemoryMiddleware(place.root, parameters=parameters, backend=place.backend, history_dir=history)


async def test_a_memory_is_read_recalled_saved_explained_and_undone(
    place: Place, memory: AgenticMemoryMiddleware, tmp_path: Path
) -> None:
    for name, data in (("tea.md", TEA), ("MEMORY.md", INDEX)):
        await place.backend.write_file(place.path(f"Memory/{name}"), data)
    cake, tea = place.path("Memory/cake.md"), place.path("Memory/tea.md")
    agent = agent_on(
        memory,
        [call("Write", file_path=cake, content="Hates cake.\n"), call("Read", file_path=tea)],
        [call("Edit", file_path=tea, old_string="oolong, never", new_string="oolong and sencha, never")],
        "done",
    )
    await agent.reply("what do I drink?")

    (index,) = agent.trace.of(IndexRead)
    assert (index.found, index.text) == (True, INDEX.decode().rstrip())
    (ended,) = agent.trace.of(RetrievalEnded)
    assert (ended.finish, [found.path for found in ended.memories]) == ("found", [tea])
    hints = [block for msg in agent.memory.content for block in msg[0].get_content_blocks("hint")]
    assert "never green tea" in next(block.hint for block in hints if isinstance(block, HintBlock))
    assert [event.state for event in agent.trace.of(ToolEnded)] == ["success"] * 3
    assert await place.backend.read_file(cake) == b"Hates cake.\n"
    assert b"oolong and sencha" in await place.backend.read_file(tea)

    changes = [(event.action, event.origin) for event in agent.trace.of(FileChanged)]
    assert changes == [("create", "model"), ("edit", "model")]
    entry = (await memory.book.history("tea.md"))[0]
    await memory.book.undo(entry.id)
    assert await place.backend.read_file(tea) == TEA
    place.put(cake, b"Likes cake.\n")
    with pytest.raises(MemoryConflict):
        await memory.book.undo((await memory.book.history("cake.md"))[0].id)
    assert await place.backend.read_file(cake) == b"Likes cake.\n"
    beside = [info.name for info in await place.backend.list_dir(place.root)]
    assert (".mnemoscope" in beside) is not (tmp_path / "history").exists()
    await memory.aclose()


async def test_what_others_do_there_is_noticed(place: Place, memory: AgenticMemoryMiddleware) -> None:
    await place.backend.write_file(place.path("Memory/tea.md"), TEA)
    await memory.book.look()
    place.put(place.path("Memory/tea.md"), TEA.replace(b"oolong", b"green tea"))
    place.put(place.path("Memory/new.md"), b"New.\n")
    await memory.book.look()
    told = {(entry.path, entry.action, entry.origin) for entry in await memory.journal.entries()}
    assert told == {("tea.md", "edit", "outside"), ("new.md", "create", "outside")}
    await memory.aclose()


async def test_what_is_not_guaranteed_is_told_once(place: Place, memory: AgenticMemoryMiddleware) -> None:
    agent = agent_on(memory, "one", "two")
    await agent.reply("a")
    await agent.reply("b")
    told = [event.text for event in agent.trace.of(Noticed)]
    if place.backend.name == "local":
        assert not told
    else:
        (text,) = told
        assert text.startswith(f"Memory is on {place.backend.name}: ")
        assert "compared before it is written" in text
    await memory.aclose()


async def test_without_a_connection_the_chat_goes_on_and_says_why_nothing_is_recalled(tmp_path: Path) -> None:
    def connect() -> object:
        raise OSError("no route to host")

    backend = FsspecBackend(connect, "sftp", "sftp://ana@example")  # type: ignore[arg-type]
    memory = AgenticMemoryMiddleware("/notes", backend=backend, history_dir=tmp_path / "history")
    write = call("Write", file_path="/notes/Memory/a.md", content="x")
    agent = agent_on(memory, [write], "I could not save that")
    await agent.reply("remember x")
    reason = "sftp://ana@example cannot be reached: no route to host"
    (ended,) = agent.trace.of(RetrievalEnded)
    assert ended.finish == "failed"
    assert reason in ended.error
    assert any(reason in event.text and "MEMORY.md" in event.text for event in agent.trace.of(Noticed))
    assert [event.state for event in agent.trace.of(ToolEnded)] == ["denied"]
    (result,) = [block for msg, _ in agent.memory.content for block in msg.get_content_blocks("tool_result")]
    assert reason in str(result.output)
    assert all("\n" not in event.text and "Traceback" not in event.text for event in agent.trace.of(Noticed))
    await memory.aclose()
