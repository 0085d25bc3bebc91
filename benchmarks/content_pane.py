"""The content pane with 10,000 messages: a filter is changed, a message comes, marks change, the cursor moves.

Each figure is the time from what was done to the pane being drawn, at 120 columns and 40 lines. Targets: filter change
within 100 ms, append within 50 ms. With `--memory URL` the messages lie in a store with a copy in front of it, as in
the program: the pane is drawn while the store commits. `done` is when that is over too, and `processor` what all took.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from statistics import median
from uuid import uuid4

from textual.app import App, ComposeResult

from agent_core.agent import Agent
from agent_core.event import Event
from agent_core.marks import Entry, MemoryFilter
from agent_core.message import AssistantMsg, Msg, SystemMsg, ToolCallBlock, ToolResultBlock, UserMsg
from agent_core.model.scripted_model import ScriptedChatModel
from memory import InMemoryMemory, MemoryBase
from memory.working.mirrored import MirroredMemory
from memory.working.open import open_memory
from tui.mark_syntax import parse_filter
from tui.panes.content import ContentPane
from tui.panes.memory_editor import MemoryEditor
from tui.views.session_view import SessionView

ROWS = 10_000
REPEATS = 20
SIZE = (120, 40)
MARKS: tuple[tuple[str, ...], ...] = ((), ("planning",), ("draft", "planning"), ("[/x]",), ())

Step = Callable[[int], Awaitable[None]]


def messages(count: int) -> Iterator[tuple[Msg, tuple[str, ...]]]:
    """A conversation in which every second answer is a tool call with its result."""
    for number in range(count // 4):
        marks = MARKS[number % len(MARKS)]
        yield UserMsg("user", f"Question {number}: what about [/x], 日本語 and the rest of the line?"), marks
        yield AssistantMsg("assistant", [ToolCallBlock(f"call{number}", "Read", '{"file_path": "/a"}')]), ("tool",)
        yield SystemMsg("Read", [ToolResultBlock(f"call{number}", "Read", "1\ttext of the file")]), ("tool",)
        yield AssistantMsg("assistant", f"Answer {number}, which goes on for a while.", metadata={"model": "m"}), marks


class PaneApp(App[None]):
    """The pane alone, fed by the agent's trace."""

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self.views = SessionView(agent)
        self.pane = ContentPane(agent, self.views.content, self.views.filter, MemoryEditor(agent))
        agent.trace.subscribe(self._take)

    def compose(self) -> ComposeResult:
        yield self.pane

    def _take(self, event: Event) -> None:
        self.views.apply(event)
        if self.is_running:
            self.pane.show()


async def drawn(app: App[None]) -> None:
    """Wait until what was asked to be drawn is drawn."""
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()


async def timed(app: App[None], step: Step) -> str:
    """How long a step takes until it is drawn and until it is done, in milliseconds."""
    seconds, ends, processor = [], [], []
    for number in range(REPEATS):
        await asyncio.sleep(0.02)
        started, used = time.perf_counter(), time.process_time()
        work = asyncio.ensure_future(step(number))
        # By now the step has changed what is shown; at most it waits for a store.
        await asyncio.sleep(0)
        await drawn(app)
        seconds.append(time.perf_counter() - started)
        await work
        ends.append(time.perf_counter() - started)
        processor.append(time.process_time() - used)
    wall, worst, done, cpu = (
        value * 1000 for value in (median(seconds), max(seconds), median(ends), median(processor))
    )
    return f"median {wall:6.1f} ms  worst {worst:6.1f} ms  done {done:6.1f} ms  processor {cpu:6.1f} ms"


async def filled(url: str | None) -> MemoryBase:
    """A memory with all the messages."""
    everything = [(msg, list(marks)) for msg, marks in messages(ROWS)]
    if url is None:
        memory = InMemoryMemory()
        memory.content = everything
        return memory
    entries = [Entry(msg, tuple(marks)) for msg, marks in everything]
    mirrored = MirroredMemory(open_memory(url, session_id=uuid4().hex), entries=entries)
    await mirrored.refresh()
    return mirrored


async def measure(url: str | None) -> None:
    agent = Agent("assistant", "", ScriptedChatModel([]), memory=await filled(url))
    await agent.start()
    app = PaneApp(agent)
    filters = [parse_filter(text) for text in ("planning", "!draft", "planning !draft", "")]
    ids = [msg.id for msg, _ in await agent.memory.entries()]

    async def apply(number: int) -> None:
        agent.memory_filter = filters[number % len(filters)]

    async def look(number: int) -> None:
        app.views.filter.edit(filters[number % 3])
        app.pane.show()

    async def append(number: int) -> None:
        await agent.memory.add(UserMsg("user", f"new message {number}"), marks="planning")

    async def mark(number: int) -> None:
        await agent.memory.update_messages_mark(f"mark{number}", msg_ids=ids[number : number + 100])

    async def delete(number: int) -> None:
        await agent.memory.delete(ids[100 + number : 101 + number])

    async def move(number: int) -> None:
        app.pane.query_one("RowList").action_page_back()  # type: ignore[attr-defined]

    steps: list[tuple[str, Step]] = [
        ("filter applied", apply),
        ("filter looked through", look),
        ("append", append),
        ("100 messages marked", mark),
        ("message deleted", delete),
        ("page up", move),
    ]
    async with app.run_test(size=SIZE):
        # As in the program soon after its start: what is there stays, and no collection goes through it.
        gc.freeze()
        for name, step in steps:
            if step is append:
                agent.memory_filter = MemoryFilter()
                app.views.filter.edit(MemoryFilter())
            print(f"content pane {name:<24}  {await timed(app, step)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", metavar="URL", help="where the messages lie; by themselves in the process")
    asyncio.run(measure(parser.parse_args().memory))


if __name__ == "__main__":
    main()
