"""The app as a program of its own, for tests in a terminal: `python -m tests.tui.terminal.program CASE FOLDER`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from rich.traceback import Traceback

from agent_core.errors import ModelBadRequest
from agent_core.message import AssistantMsg, HintBlock, Msg, TextBlock, ThinkingBlock, ToolCallBlock, UserMsg
from tests.agent_core.agents import Echo
from tests.tui.app.harness import SmallRuntime
from tui.app import MnemoscopeApp

HOSTILE = (
    "\x1b]52;c;aGk=\x07",
    "\x1b]0;hi\x07",
    "\x1b]8;;http://e\x1b\\x\x1b]8;;\x1b\\",
    "\x1b[2J",
    "\x1b[6n",
    "\x1bc",
    "\x9b31m",
    "\x90q\x9c",
    "\x1b]",
)


def plain(folder: Path) -> SmallRuntime:
    """Answers two questions."""
    return SmallRuntime("First answer.", "Second answer.", folder=folder)


def patient(folder: Path) -> SmallRuntime:
    """Numbers its answers, to nine questions."""
    return SmallRuntime(*(f"Answer {number}." for number in range(1, 10)), folder=folder)


def hostile(folder: Path) -> SmallRuntime:
    """Has control sequences in everything that it says and holds, then fails with some."""
    text = " ".join(HOSTILE)
    answer = TextBlock(f"{text}\n\n```{text}\n{text}\n```\n\n[{text}]({text})\n\n- {text}")
    call = ToolCallBlock("c1", "Echo", '{"text": "\\u001b]0;tool\\u0007 \\u009b2J"}')
    turns = [
        [ThinkingBlock(text), answer, call],
        ModelBadRequest(f"refused: {text}"),
    ]
    return SmallRuntime(*turns, tools=[Echo()], folder=folder)


async def fill(runtime: SmallRuntime) -> None:
    """Put control sequences into names, marks, files and hints."""
    text = HOSTILE[0] + HOSTILE[3]
    said = Msg(f"name{text}", f"said {text}", "user")
    await runtime.agent.observe([said, UserMsg("user", text)], marks=[f"mark{text}"])
    hint = AssistantMsg("memory", [HintBlock(f"hint {text}", source=f"memory:file{text}.md")])
    await runtime.agent.observe(hint, marks="hint")


class Failing(MnemoscopeApp):
    """Has a fault, that shows with the first key."""

    def on_key(self) -> None:
        api_key = "sk-secret-secret"
        raise RuntimeError(f"a fault of {len(api_key)} [/x]")


class FailingToRead(MnemoscopeApp):
    """Has a fault of which only a drawing comes, as from the thread that reads the terminal; with the first key."""

    def on_key(self) -> None:
        try:
            raise RuntimeError("a fault [/x]")
        except RuntimeError:
            self.panic(Traceback())


class Hostile(MnemoscopeApp):
    """Begins with a memory full of control sequences."""

    async def on_mount(self) -> None:
        await fill(self.main.runtime)  # type: ignore[arg-type]


CASES: dict[str, tuple[Callable[[Path], SmallRuntime], type[MnemoscopeApp]]] = {
    "plain": (plain, MnemoscopeApp),
    "patient": (patient, MnemoscopeApp),
    "hostile": (hostile, Hostile),
    "failing": (plain, Failing),
    "failing_to_read": (plain, FailingToRead),
}


def main() -> None:
    make_runtime, app_class = CASES[sys.argv[1]]
    app = app_class(make_runtime(Path(sys.argv[2])))
    app.run()
    sys.exit(app.return_code)


if __name__ == "__main__":
    main()
