"""The runtime: model, memory, tools and session put together, and put together again on resuming."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from agent_core.errors import StorageError
from agent_core.event import (
    Answer,
    MemoryChanged,
    Noticed,
    PermissionAnswered,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    ToolEnded,
)
from agent_core.marks import MemoryFilter
from agent_core.message import HintBlock, ToolCallBlock, ToolResultBlock
from agent_core.model import ScriptedChatModel
from agent_core.prompt_ledger import PromptLedger
from tests.fake_server import FakeServer, Gate, reply, serving_in_thread, text, tool_call
from tui.config import load_settings
from tui.config_file import ConfigError
from tui.runtime import Runtime
from tui.session_reader import read_session

pytestmark = pytest.mark.usefixtures("home")


async def opened(resume: str | None = None, go_on: bool = False, **options: str) -> Runtime:
    runtime = Runtime(load_settings(options), resume=resume, go_on=go_on)
    await runtime.prepare()
    return runtime


def notices(runtime: Runtime) -> list[str]:
    return [event.text for event in runtime.agent.trace.of(Noticed)]


# --- Putting together


async def test_without_anything_set_the_offline_model_answers_and_all_lies_in_the_data_folder(
    home: Path,
) -> None:
    runtime = await opened()
    answer = await runtime.agent.reply("hello")
    assert answer.get_text_content()
    assert not runtime.agent.model.is_language_model
    assert runtime.workdir == (home / "data" / "mnemoscope" / "workdir").resolve()
    assert runtime.session.path == home / "data" / "mnemoscope" / "sessions" / f"{runtime.session.id}.jsonl"
    await runtime.aclose()
    assert sorted(path.name for path in home.iterdir()) == ["data"]


async def test_two_requests_begin_with_the_same_bytes(openai_server: FakeServer) -> None:
    openai_server.play(reply(text("a")), reply(text("b")))
    runtime = await opened(model="m", base_url=openai_server.base_url)
    await runtime.agent.reply("one")
    await runtime.agent.reply("two")
    first, second = openai_server.chats
    assert first.messages[0] == second.messages[0]
    assert str(runtime.workdir / "Memory") in first.messages[0]["content"]
    await runtime.aclose()


async def test_the_key_goes_to_the_endpoint_that_it_was_set_for_and_to_no_other(
    openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    other = FakeServer(brain=lambda request: reply(text("b")))
    await other.start()
    openai_server.play(reply(text("a")))
    runtime = await opened(model="m", base_url=openai_server.base_url)
    await runtime.agent.reply("one")
    assert openai_server.chats[0].headers["authorization"] == "Bearer sk-mine"
    runtime.set_model("another", other.base_url)
    await runtime.agent.reply("two")
    assert "sk-mine" not in str(other.chats[0].headers)
    assert other.chats[0].body["model"] == "another"
    await runtime.aclose()
    await other.stop()


async def test_an_address_alone_uses_the_first_model_that_is_there(openai_server: FakeServer) -> None:
    openai_server.models = {"qwen3:8b": {}, "other": {}}
    runtime = await opened(base_url=openai_server.base_url)
    assert runtime.agent.model.model == "qwen3:8b"
    runtime.set_model("other")
    await runtime.new_session()
    assert runtime.agent.model.model == "other"
    assert runtime.agent.model.endpoint == openai_server.base_url
    await runtime.aclose()


async def test_an_address_without_any_model_is_told_with_the_way_out(openai_server: FakeServer) -> None:
    openai_server.models = {}
    runtime = await opened(base_url=openai_server.base_url)
    assert "name one with --model or /model" in notices(runtime)[0]
    await runtime.aclose()


async def test_changing_to_a_model_without_any_endpoint_is_refused_with_the_way_out() -> None:
    runtime = await opened()
    with pytest.raises(ConfigError, match="/model NAME BASE_URL"):
        runtime.set_model("m")
    runtime.set_model("offline")
    assert not runtime.agent.model.is_language_model
    await runtime.aclose()


async def test_the_size_of_the_window_is_the_one_configured_or_the_one_that_the_endpoint_tells(
    openai_server: FakeServer, config: Path
) -> None:
    openai_server.models = {"m": {"context_length": 8192}}
    runtime = Runtime(load_settings({"model": "m", "base_url": openai_server.base_url}))
    await runtime.start()
    await asyncio.gather(*runtime._background)
    assert runtime.agent.model.context_size == 8192
    await runtime.aclose()
    config.write_text("context_size = 4096\n")
    configured = await opened(model="m", base_url=openai_server.base_url)
    assert configured.agent.model.context_size == 4096
    await configured.aclose()


async def test_warnings_about_settings_are_told(config: Path) -> None:
    config.write_text("bogus = 1\n")
    runtime = await opened()
    assert "line 1: there is no setting 'bogus'" in notices(runtime)[0]
    await runtime.aclose()


async def test_where_nothing_can_be_written_the_chat_works_in_memory_and_says_so(home: Path) -> None:
    """P13: told at the start, and the chat goes on."""
    (home / "file").write_text("")
    runtime = await opened(data_dir=str(home / "file" / "data"))
    await runtime.agent.reply("hello")
    told = " ".join(notices(runtime))
    assert "name a folder with --workdir" in told
    assert "This session is not being saved" in told
    assert runtime.session.problem
    await runtime.aclose()


async def test_a_workdir_that_is_a_link_is_one_and_the_same_by_both_names(home: Path) -> None:
    """L09, X06: the path in the prompt is the path that is read, written and shown."""
    (home / "real").mkdir()
    (home / "link").symlink_to(home / "real")
    runtime = await opened(workdir=str(home / "link"))
    await runtime.agent.reply("hello")
    assert runtime.workdir == (home / "real").resolve()
    first = runtime.agent.trace.of(PromptSent)[0]
    assert any(str(runtime.workdir / "Memory") in part.text for part in first.parts)
    await runtime.aclose()
    again = await opened(go_on=True, workdir=str(home / "real"))
    assert again.session.id == runtime.session.id
    await again.aclose()


async def test_a_new_session_has_a_file_of_its_own_and_keeps_what_was_allowed(home: Path) -> None:
    runtime = await opened()
    await runtime.agent.reply("hello")
    first, agent = runtime.session, runtime.agent
    await runtime.new_session()
    assert runtime.agent is not agent
    assert runtime.agent.state.permission_context is agent.state.permission_context
    assert await runtime.agent.memory.entries() == []
    await runtime.agent.reply("again")
    agent.trace.append(Noticed(text="something late"))
    await runtime.aclose()
    assert first.path is not None
    assert "something late" not in first.path.read_text()
    assert len(runtime.store.list()) == 2


# --- Resuming


async def test_resuming_brings_back_messages_marks_summary_and_filter_without_writing_them_again() -> None:
    runtime = await opened()
    agent = runtime.agent
    await agent.reply("hello there", marks=["planning"])
    await agent.memory.update_compressed_summary("They said hello.")
    agent.memory_filter = MemoryFilter(exclude_mark="draft")
    await runtime.aclose()
    assert runtime.session.path is not None
    before = runtime.session.path.read_bytes()

    again = await opened(resume=runtime.session.id[:4])
    assert await again.agent.memory.entries() == await agent.memory.entries()
    assert again.agent.memory._compressed_summary == "They said hello."
    assert again.agent.memory_filter == MemoryFilter(exclude_mark="draft")
    assert runtime.session.path.read_bytes() == before
    await again.agent.reply("and again")
    await again.aclose()
    added = runtime.session.path.read_bytes()[len(before) :]
    assert b"hello there" not in added


async def test_after_resuming_a_prompt_event_says_only_what_is_new() -> None:
    runtime = await opened()
    await runtime.agent.reply("one")
    await runtime.aclose()
    again = await opened(go_on=True)
    await again.agent.reply("two")
    first, second = again.agent.trace.of(PromptSent)
    assert {"base", "instructions", "index"} <= {part.kind for part in first.parts}
    assert {part.kind for part in second.parts} == {"message"}
    ledger = PromptLedger(again.agent.trace.of(PromptSent))
    assert ledger.parts == again.agent.prompt_ledger.parts
    await again.aclose()


async def test_a_session_that_is_not_there_is_refused() -> None:
    with pytest.raises(StorageError, match="No session begins with 'abc'"):
        Runtime(load_settings(), resume="abc")


KILLED = """
    import asyncio, sys
    from agent_core.tool import ToolBase
    from tui.config import load_settings
    from tui.runtime import Runtime

    class Wait(ToolBase):
        name, description, input_schema = "Wait", "Waits.", {{"type": "object", "properties": {{}}}}
        is_read_only = is_concurrency_safe = True
        async def call(self):
            print("waiting", flush=True)
            await asyncio.Event().wait()

    async def main():
        runtime = Runtime(load_settings({{"model": "m", "base_url": {base_url!r}}}))
        runtime.agent.toolkit.add(Wait())
        await runtime.prepare()
        print(runtime.session.id, flush=True)
        async for event in runtime.agent.reply_stream("go on"):
            print(type(event).__name__, flush=True)

    asyncio.run(main())
"""


def kill_when_it_says(server: FakeServer, words: bytes) -> str:
    """Run a reply in another process, kill -9 that when it prints a line with these words, and return its session."""
    program = textwrap.dedent(KILLED.format(base_url=server.base_url))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        session_id = process.stdout.readline().decode().strip()
        while line := process.stdout.readline():
            if words in line:
                break
        os.kill(process.pid, signal.SIGKILL)
    return session_id


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
async def test_a_reply_killed_in_mid_stream_is_there_on_resuming_labelled_as_interrupted() -> None:
    server, gate = FakeServer(), Gate()
    server.play(reply(text("The answer begins"), gate), reply(text("It goes on.")))
    with serving_in_thread(server):
        session_id = kill_when_it_says(server, b"BlockDelta")
        runtime = await opened(resume=session_id, model="m", base_url=server.base_url)
        question, answer = [entry.msg for entry in await runtime.agent.memory.entries()]
        assert question.get_text_content() == "go on"
        assert answer.get_text_content() == "The answer begins"
        assert answer.get_metadata("cut_short") == "interrupted"
        (started,) = runtime.agent.trace.of(ReplyStarted)
        (ended,) = runtime.agent.trace.of(ReplyEnded)
        assert (ended.reply_id, ended.finish, ended.rounds) == (started.reply_id, "interrupted", 1)
        assert runtime.agent.trace.of(MemoryChanged)[-1].reply_id == started.reply_id
        assert (await runtime.agent.reply("and?")).get_text_content() == "It goes on."
        await runtime.aclose()
        assert runtime.session.path is not None
        once = len(read_session(runtime.session.path).entries)
        again = await opened(resume=session_id)
        assert len(await again.agent.memory.entries()) == once
        await again.aclose()
        gate.open()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
async def test_a_program_killed_in_a_tool_is_repaired_on_resuming_and_the_server_takes_the_history() -> None:
    """C02: kill -9 during a tool, restart, send."""
    server = FakeServer()
    calls = [tool_call("Wait", {}, id="c1"), tool_call("Wait", {}, id="c2", index=1)]
    server.play(reply(text("Let me wait."), *calls), reply(text("It goes on.")))
    with serving_in_thread(server):
        session_id = kill_when_it_says(server, b"waiting")
        runtime = await opened(resume=session_id, model="m", base_url=server.base_url)
        results = [
            (block.id, block.state)
            for entry in await runtime.agent.memory.entries()
            for block in entry.msg.get_content_blocks(ToolResultBlock)
        ]
        assert results == [("c1", "interrupted"), ("c2", "interrupted")]
        ended = runtime.agent.trace.of(ToolEnded)
        assert [(event.call_id, event.state) for event in ended] == results
        assert runtime.agent.trace.of(ReplyEnded)[-1].finish == "interrupted"
        assert (await runtime.agent.reply("hi")).get_text_content() == "It goes on."
        await runtime.aclose()


async def test_a_question_that_was_open_when_the_program_ended_is_answered_with_no() -> None:
    runtime = await opened()
    write = json.dumps({"file_path": str(runtime.workdir / "a.md"), "content": "x"})
    assert runtime.session.path is not None
    copies: list[bytes] = []

    async def approve(call: object, diff: str) -> Answer:
        assert runtime.session.path is not None
        copies.append(runtime.session.path.read_bytes())
        return "no"

    runtime.agent.model = ScriptedChatModel([[ToolCallBlock("c1", "Write", write)], "Well."])
    runtime.agent.approve = approve
    await runtime.agent.reply("write")
    await runtime.aclose()
    runtime.session.path.write_bytes(copies[0])

    again = await opened(resume=runtime.session.id)
    (answered,) = again.agent.trace.of(PermissionAnswered)
    assert (answered.call_id, answered.answer, answered.reason) == ("c1", "no", "the program ended")
    assert again.agent.trace.of(ReplyEnded)[-1].finish == "interrupted"
    await again.aclose()


async def test_a_hint_of_a_cut_reply_is_not_taken_for_its_answer() -> None:
    runtime = await opened()
    memory = runtime.workdir / "Memory"
    memory.mkdir()
    (memory / "home.md").write_text("---\nname: home\ndescription: where the user lives\n---\nLives in Hangzhou.\n")
    assert runtime.session.path is not None
    await runtime.agent.reply("where do I live?")
    await runtime.aclose()
    lines = runtime.session.path.read_bytes().splitlines(keepends=True)
    last_delta = max(number for number, line in enumerate(lines) if line.startswith(b'{"type":"block_delta"'))
    runtime.session.path.write_bytes(b"".join(lines[: last_delta + 1]))

    again = await opened(resume=runtime.session.id)
    messages = [entry.msg for entry in await again.agent.memory.entries()]
    assert [bool(msg.get_content_blocks(HintBlock)) for msg in messages] == [False, True, False]
    assert "Hangzhou" in (messages[2].get_text_content() or "")
    assert messages[2].get_metadata("cut_short") == "interrupted"
    await again.aclose()
