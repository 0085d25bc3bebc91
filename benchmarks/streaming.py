"""A reply streams in at 200 tokens a second: how long a key takes to be on the screen, and what a token costs.

Once into an empty session and once into one of 500 messages, with the idle empty app beside it. Targets: keys answer
within 50 ms all the while; the cost of a token does not grow with the session.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_core.agent import Agent
from agent_core.message import AssistantMsg, UserMsg
from agent_core.model import OfflineChatModel
from benchmarks.program import EMPTY_APP, MNEMOSCOPE, READY, Program
from tests.fake_server import FakeServer, Gate, Pause, reply, serving_in_thread, text
from tui.session_store import SessionStore

TOKENS_PER_SECOND = 200
SECONDS = 12
MESSAGES = 500
# Characters that no answer holds, so that each is seen to arrive.
KEYS = [chr(0x4E00 + number) for number in range(60)]
PARAGRAPH = "Some **bold** words, `code`, and a list:\n\n- one\n- two\n\n```python\nprint('hello')\n```\n\n"


def answer() -> Iterator[str]:
    """The pieces of an answer, one a token of about four characters."""
    whole = PARAGRAPH * (TOKENS_PER_SECOND * SECONDS * 4 // len(PARAGRAPH))
    return (whole[start : start + 4] for start in range(0, len(whole), 4))


def fill_session(home: Path, messages: int) -> None:
    """Write a session of so many messages."""

    async def fill() -> None:
        workdir = home / "data" / "mnemoscope" / "workdir"
        session = SessionStore(home / "data" / "mnemoscope" / "sessions").new(workdir.resolve())
        agent = Agent("assistant", "", OfflineChatModel())
        agent.trace.subscribe(session.file.append)
        for number in range(messages // 2):
            await agent.observe(UserMsg("user", f"Question number {number}?"))
            await agent.observe(AssistantMsg("assistant", f"Answer number {number}.\n\n{PARAGRAPH}"))
        session.file.close()

    asyncio.run(fill())


def key_latencies(program: Program) -> list[float]:
    """Seconds from each key to its character on the screen, shortest first."""
    latencies = []
    for key in KEYS:
        program.forget()
        pressed = program.type(key.encode())
        latencies.append(program.wait_for(key.encode()) - pressed)
        program.read_for(0.1)
    return sorted(latencies)


def measure(messages: int) -> tuple[list[float], float]:
    """Key latencies while a reply streams, and processor seconds for each token."""
    gate = Gate()
    pieces = [step for piece in answer() for step in (*text(piece), Pause(1 / TOKENS_PER_SECOND))]
    with tempfile.TemporaryDirectory() as folder, serving_in_thread(FakeServer()) as server:
        home = Path(folder)
        if messages:
            fill_session(home, messages)
        server.play(reply(gate, *pieces))
        options = ["--model", "m", "--base-url", server.base_url, *(["-c"] if messages else [])]
        program = Program([*MNEMOSCOPE, *options], home)
        try:
            program.wait_for(READY)
            program.read_for(2.0)
            program.type(b"go\r")
            asyncio.run(_reached(gate))
            program.read_for(1.0)
            before, began = program.cpu_seconds(), time.perf_counter()
            gate.open()
            program.read_for(1.0)
            latencies = key_latencies(program)
            tokens = TOKENS_PER_SECOND * (time.perf_counter() - began)
            return latencies, (program.cpu_seconds() - before) / tokens
        finally:
            program.close()


async def _reached(gate: Gate) -> None:
    await gate.reached()


def baseline() -> list[float]:
    """Key latencies of the empty app."""
    program = Program(EMPTY_APP)
    try:
        program.wait_for(READY)
        program.read_for(1.0)
        return key_latencies(program)
    finally:
        program.close()


def show(name: str, latencies: Sequence[float]) -> None:
    """Print latencies in milliseconds."""
    middle, high, worst = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.95, 0.999))
    print(f"streaming    {name:<24}  key to screen: median {middle:.0f} ms  95 % {high:.0f} ms  worst {worst:.0f} ms")


def main() -> None:
    show("empty app, idle", baseline())
    costs = {}
    for messages in (0, MESSAGES):
        latencies, costs[messages] = measure(messages)
        show(f"mnemoscope, {messages} messages", latencies)
    for messages, cost in costs.items():
        print(f"streaming    mnemoscope, {messages} messages: {cost * 1000:.2f} ms of processor a token")


if __name__ == "__main__":
    main()
