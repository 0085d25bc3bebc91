"""`mnemoscope ask`: one turn without a screen."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import cast

from agent_core.agent import Agent
from agent_core.event import (
    BlockDelta,
    BlockEnded,
    Event,
    FactsWritten,
    Noticed,
    ReplyEnded,
    StoreFailed,
    StoreRecovered,
    ToolEnded,
    encode_event,
)
from agent_core.permission import PermissionMode
from tui.cli import Options
from tui.config import Settings
from tui.literal_text import harmless_json, visible
from tui.piped_input import NothingCame, read_piped
from tui.runtime import Runtime
from tui.saying import say
from tui.views.store_text import store_notice

_WRITING_SECONDS = 60.0
"""So long the end waits for facts that are being written, at most."""


def read_question(options: Options) -> str:
    """The words of the command line, with standard input behind them; empty where a person would have to type it."""
    try:
        piped = read_piped(awaited=options.awaits_input or not options.question)
    except NothingCame:
        say("Nothing came on standard input, so it is left alone; a last word - waits for it, < /dev/null closes it.")
        piped = ""
    if not options.question:
        return piped.strip()
    attached = piped.strip("\r\n")
    return f"{options.question}\n\n{attached}" if attached.strip() else options.question


async def ask(options: Options, settings: Settings, question: str) -> int:
    """Answer one question and return the exit code: 0 when the answer is complete, else 1.

    The answer goes to standard output as it comes; notices and errors go to standard error, one line each. With
    `--json` all events go to standard output.

    Raises:
        StorageError: the session to go on with cannot be had.
        BrokenPipeError: nobody reads the answer any more.
    """
    runtime = Runtime(settings, resume=options.resume, go_on=options.go_on)
    if options.allow_writes:
        runtime.agent.state.permission_context.mode = PermissionMode.ACCEPT_EDITS
    printer = _JsonPrinter() if options.json else _TextPrinter(runtime.agent, options.allow_writes)
    # Not printed by the listener itself: what goes wrong in one never reaches us.
    waiting: deque[Event] = deque()
    runtime.agent.trace.subscribe(waiting.append)
    try:
        await runtime.find_session()
        await runtime.prepare()
        replying = cast("AsyncGenerator[Event, None]", runtime.agent.reply_stream(question))
        async with aclosing(replying) as stream:
            async for _ in stream:
                while waiting:
                    printer.print(waiting.popleft())
        while waiting:
            printer.print(waiting.popleft())
    finally:
        await runtime.aclose(_WRITING_SECONDS, _tell_remaining)
        if runtime.last_words:
            say(runtime.last_words)
    while waiting:
        printer.print(waiting.popleft())
    ended = runtime.agent.trace.of(ReplyEnded)
    return 0 if ended and ended[-1].finish == "completed" else 1


_BECAME = {
    "added": "Kept as a fact",
    "superseded": "No longer true",
    "updated": "Changed the fact",
    "deleted": "Deleted the fact",
}


def _tell_remaining(count: int) -> None:
    """A person who looks on is told why the program has not ended yet."""
    if count and sys.stderr.isatty():
        say(f"writing {count} {'memory' if count == 1 else 'memories'}… (ctrl+c leaves; the rest is written next time)")


def _facts_lines(written: FactsWritten) -> Iterator[str]:
    """What became of what was said, in a long-term memory of facts; nothing where there was nothing to keep."""
    if written.finish == "failed":
        yield f"Not kept as a fact: {written.detail}"
    elif written.finish in ("accepted", "unknown"):
        yield f"Perhaps kept as a fact: {written.detail}"
    for change in written.changes:
        if change.action in _BECAME:
            yield f"{_BECAME[change.action]}: {change.text or change.memory_id}"


class _JsonPrinter:
    """Every event as the session file has it."""

    def print(self, event: Event) -> None:
        print(harmless_json(encode_event(event).decode()), flush=True)


class _TextPrinter:
    """The answer's text, with nothing in it that could act on a terminal."""

    def __init__(self, agent: Agent, allow_writes: bool) -> None:
        self._agent = agent
        self._allow_writes = allow_writes
        self._is_in_line = False
        self._is_answered = False

    def print(self, event: Event) -> None:
        match event:
            case BlockEnded() | ReplyEnded():
                self._end_line()
            case BlockDelta(kind="text", text=text):
                self._is_in_line = not text.endswith("\n")
                print(visible(text), end="", flush=True)
            case ToolEnded(tool=tool, state="denied"):
                say(f"{tool} was refused{self._advice(tool)}.")
            case Noticed(text=text):
                say(text)
            case FactsWritten() if self._is_answered:
                for line in _facts_lines(event):
                    say(line)
            case StoreFailed() | StoreRecovered():
                say(store_notice(event))
        # What the model keeps with a tool it tells of itself; this is about what is taken from the exchange afterwards.
        self._is_answered = self._is_answered or isinstance(event, ReplyEnded)
        if isinstance(event, ReplyEnded) and event.finish != "completed":
            say(event.error or f"The answer is not complete: {event.finish}.")

    def _advice(self, name: str) -> str:
        tool = self._agent.toolkit.get(name)
        if tool is not None and tool.is_read_only:
            return "; it may read in the workdir only"
        return "" if self._allow_writes else "; --allow-writes lets it change files in the workdir"

    def _end_line(self) -> None:
        if self._is_in_line:
            print(flush=True)
        self._is_in_line = False
