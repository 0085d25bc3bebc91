"""mem0 in the program: switched on by a setting, changed while it runs, and not left before it has written."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.event import FactsWritten, Noticed, PermissionAsked, RetrievalSettled, ToolEnded
from agent_core.history import REPLACES
from memory.mem0 import Mem0Middleware
from tests.cancelling import cancel
from tests.fake_server import FakeServer, Gate, reply, text
from tests.memory.mem0.brain import Brain, memories
from tui.config import load_settings
from tui.config_file import ConfigError
from tui.long_term_memory import make_facts
from tui.runtime import Runtime

pytestmark = pytest.mark.usefixtures("home")

# Read when mem0 is imported, by whichever test of this process comes first.
os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))


@pytest.fixture
def brain(openai_server: FakeServer) -> Brain:
    openai_server.brain = brain = Brain()
    return brain


async def opened(**options: str) -> Runtime:
    runtime = Runtime(load_settings(options))
    await runtime.prepare()
    return runtime


def configure(home: Path, content: str) -> None:
    path = home / "config" / "mnemoscope" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def written(runtime: Runtime) -> list[str]:
    return [change.text for event in runtime.agent.trace.of(FactsWritten) for change in event.changes]


def notices(runtime: Runtime) -> list[str]:
    return [event.text for event in runtime.agent.trace.of(Noticed)]


async def test_what_was_said_in_one_run_is_known_in_the_next(home: Path) -> None:
    first = await opened(mem0="static_control")
    await first.agent.reply("Please remember that I live in Hangzhou.")
    await first.aclose(60)
    assert written(first) == ["I live in Hangzhou"]
    second = await opened(mem0="both")
    answer = await second.agent.reply("Where do I live?")
    assert "Hangzhou" in (answer.get_text_content() or "")
    settled = [one for one in second.agent.trace.of(RetrievalSettled) if one.msg_ids]
    assert [one.outcome for one in settled] == ["injected"]
    await second.aclose()
    assert (home / "data" / "mnemoscope" / "mem0" / "memory.db").is_file()


async def test_the_model_has_the_tools_and_the_index_stays_the_last_part_of_the_prompt() -> None:
    runtime = await opened(mem0="agent_control")
    assert runtime.agent.toolkit.names == ("Read", "Write", "Edit", "search_memory", "add_memory")
    names = [part.key for part in await runtime.agent.system_parts()]
    assert names.index("instructions:mem0:default_user") < len(names) - 1
    assert "index" in names[-1]
    await runtime.aclose()


async def test_without_a_model_the_tools_save_and_find_and_nobody_is_asked() -> None:
    runtime = await opened(mem0="agent_control")
    await runtime.agent.reply("Please remember that I live in Hangzhou.")
    assert written(runtime) == ["I live in Hangzhou"]
    assert not runtime.agent.trace.of(PermissionAsked)
    await runtime.new_session()
    answer = await runtime.agent.reply("Where do I live?")
    assert "Hangzhou" in (answer.get_text_content() or "")
    assert [event.tool for event in runtime.agent.trace.of(ToolEnded)] == ["search_memory"]
    await runtime.aclose(60)


async def test_without_it_nothing_of_it_is_there_or_imported() -> None:
    runtime = await opened()
    assert runtime.facts is None
    assert runtime.agent.toolkit.names == ("Read", "Write", "Edit")
    await runtime.aclose()
    code = "import sys; from tui.config import load_settings; from tui.runtime import Runtime\n"
    code += "import tui.app; Runtime(load_settings({'mem0': 'both'})); print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"mem0", "memory.mem0", "memory.search", "sqlite3"} & set(done.stdout.split())


async def test_the_mode_changes_while_it_runs() -> None:
    runtime = await opened()
    await runtime.use_facts(mode="both")
    facts = runtime.facts
    assert facts is not None
    assert "add_memory" in runtime.agent.toolkit.names
    await runtime.use_facts(mode="static_control")
    assert runtime.agent.toolkit.names == ("Read", "Write", "Edit")
    assert (runtime.facts, facts.mode) == (facts, "static_control")
    await runtime.new_session()
    assert facts in runtime.agent.middlewares
    await runtime.use_facts(mode="off")
    assert runtime.facts is None
    assert facts not in runtime.agent.middlewares
    await runtime.agent.reply("Please remember that I like tea.")
    assert written(runtime) == []
    await runtime.aclose()


async def test_users_do_not_hear_of_each_other() -> None:
    runtime = await opened(mem0="static_control", user="ana")
    await runtime.agent.reply("Please remember that I live in Hangzhou.")
    await runtime.use_facts(user="ben")
    await runtime.new_session()
    answer = await runtime.agent.reply("Where do I live?")
    assert "Hangzhou" not in (answer.get_text_content() or "")
    await runtime.use_facts(user="ana")
    await runtime.agent.reply("Where do I live?")
    entries = await runtime.agent.memory.entries()
    assert [source for msg, _ in entries if (source := msg.get_metadata(REPLACES))] == ["mem0:ana"]
    await runtime.aclose(60)


@pytest.mark.parametrize("user", ["   ", "ana maria", "a\tb"])
async def test_a_user_that_cannot_be_is_told_and_the_chat_goes_on(user: str) -> None:
    runtime = await opened(mem0="both", user=user)
    assert runtime.facts is None
    assert "must not" in notices(runtime)[0]
    assert "--user" in notices(runtime)[0]
    assert (await runtime.agent.reply("hello")).get_text_content()
    with pytest.raises(ConfigError, match="must not"):
        await runtime.use_facts(user="a b")
    await runtime.use_facts(user="ana")
    assert runtime.facts is not None
    await runtime.aclose()


def test_without_any_folder_there_is_no_place_for_facts() -> None:
    """P16."""
    with pytest.raises(ConfigError, match="no home folder is known"):
        make_facts(replace(load_settings(), data_dir=None))


async def test_the_config_in_the_file_reaches_mem0_and_a_store_that_cannot_be_had_is_told(home: Path) -> None:
    """D04: told, and the chat goes on."""
    configure(
        home,
        'mem0 = "static_control"\n[mem0_config.vector_store]\nprovider = "qdrant"\n'
        f'[mem0_config.vector_store.config]\npath = "{home}/chosen"\ncollection_name = "c"\nembedding_model_dims = 7\n',
    )
    runtime = await opened()
    assert (await runtime.agent.reply("hello")).get_text_content()
    assert any("7" in one and "Nothing was changed" in one for one in notices(runtime))
    await runtime.aclose()


async def test_an_embedding_model_of_ones_own_is_asked_with_the_key_of_its_endpoint_only(
    openai_server: FakeServer, brain: Brain, home: Path
) -> None:
    other = FakeServer(brain=Brain())
    await other.start()
    configure(
        home,
        f'mem0 = "static_control"\nmodel = "m"\nbase_url = "{openai_server.base_url}"\napi_key = "sk-chat"\n'
        f'embedding_model = "e"\nembedding_base_url = "{other.base_url}"\n',
    )
    brain.will_extract(memories("Lives in Hangzhou"))
    runtime = await opened()
    await runtime.agent.reply("I live in Hangzhou.")
    await runtime.aclose(60)
    assert written(runtime) == ["Lives in Hangzhou"]
    asked = [request for request in other.requests if request.path.endswith("/embeddings")]
    assert asked
    assert all("sk-chat" not in str(request.headers) for request in other.requests)
    await other.stop()


async def test_the_end_waits_for_what_is_being_written_and_tells_how_much_it_is(
    openai_server: FakeServer, brain: Brain
) -> None:
    gate = Gate()
    brain.will_extract(lambda request: reply(gate, text(memories("Likes tea"))))
    runtime = await opened(mem0="static_control", model="m", base_url=openai_server.base_url)
    await runtime.agent.reply("I like tea.")
    await gate.reached()
    told: list[int] = []
    finishing = asyncio.create_task(runtime.finish_writing(60, told.append))
    while not told:
        await asyncio.sleep(0)
    assert told == [1]
    gate.open()
    assert await finishing == 0
    assert told[-1] == 0
    assert written(runtime) == ["Likes tea"]
    await runtime.aclose()


async def test_who_does_not_wait_loses_nothing(openai_server: FakeServer, brain: Brain) -> None:
    gate = Gate()
    brain.will_extract(lambda request: reply(gate, text(memories("Likes tea"))), memories("Likes tea"))
    runtime = await opened(mem0="static_control", model="m", base_url=openai_server.base_url)
    await runtime.agent.reply("I like tea.")
    await gate.reached()
    finishing = asyncio.create_task(runtime.finish_writing(60))
    await asyncio.sleep(0)
    await cancel(finishing)
    await runtime.aclose()
    gate.open()
    (event,) = runtime.agent.trace.of(FactsWritten)
    assert (event.finish, "next" in event.detail) == ("failed", True)
    again = await opened(mem0="static_control", model="m", base_url=openai_server.base_url)
    again._facts.start(again.agent)
    await asyncio.gather(*again._facts._tasks)
    await again.aclose(60)
    assert written(again) == ["Likes tea"]


def test_no_middleware_is_made_that_waits_for_its_writes() -> None:
    from tui.long_term_memory import make_facts

    facts = make_facts(load_settings())
    assert isinstance(facts, Mem0Middleware)
    assert not facts.await_write
