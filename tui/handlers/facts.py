"""Commands about the long-term memory of facts: how it is used, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agent_core.errors import MnemoscopeError
from agent_core.event import Noticed
from agent_core.history import REPLACES
from tui.cli import MEM0_MODES
from tui.handlers.errors import CommandError

if TYPE_CHECKING:
    from tui.app import MnemoscopeApp
    from tui.screens.main import MainScreen

_MEANINGS = {
    "off": "facts are neither looked up nor kept",
    "static_control": "facts are looked up before each answer, and taken from each exchange afterwards",
    "agent_control": "the model looks facts up and keeps them with its tools",
    "both": "facts are looked up before each answer and taken from each exchange, and the model has tools for it",
}


async def mem0(main: MainScreen, argument: str) -> None:
    """Show or change how mem0 is used."""
    runtime = main.runtime
    if argument and argument not in MEM0_MODES:
        raise CommandError(f"There is no such use of mem0: {argument}; there are {', '.join(MEM0_MODES)}.")
    if argument:
        await runtime.use_facts(mode=argument)
        main.draw({"facts"})
    mode = runtime.facts.mode if runtime.facts is not None else "off"
    whose = f" They are those of {runtime.settings.user}." if mode != "off" else " /mem0 both switches it on."
    main.app.notify(f"mem0 is {mode}: {_MEANINGS[mode]}.{whose}")


async def user(main: MainScreen, argument: str) -> None:
    """Show or change whose facts are looked up and kept."""
    runtime = main.runtime
    before = runtime.settings.user
    if argument:
        await runtime.use_facts(user=argument)
        main.draw({"facts"})
    now = runtime.settings.user
    text = f"Facts are those of {now}." + (
        "" if runtime.facts is not None else " mem0 is off: /mem0 MODE switches it on."
    )
    if now != before and await _holds_facts_of(main, before):
        text += f" What was recalled for {before} stays in this conversation; /new begins an empty one."
    main.app.notify(text)


async def forget(main: MainScreen, argument: str) -> None:
    """Forget everything about the user, when that is confirmed."""
    from tui.screens.confirm import ConfirmScreen

    whose = main.runtime.settings.user
    elsewhere = " In the memory store, sessions of that user that were begun elsewhere go as a whole."
    also = elsewhere if main.runtime.settings.memory else ""
    app = cast("MnemoscopeApp", main.app)

    async def work() -> None:
        question = (
            f"Forget everything about {whose}? All facts and their history are deleted for good, and of every session,"
            f" this one too, all that was said since facts took part in it.{also} Memory files stay. (y/n)"
        )
        if not await app.push_screen_wait(ConfirmScreen(question)):
            return
        try:
            forgotten = await app.forget_user()
        except MnemoscopeError as error:
            app.notify(str(error), severity="error")
        else:
            text = f"Forgotten about {whose}: {'; '.join(forgotten.lines)}."
            app.main.agent.trace.append(Noticed(text=text, level="warning" if forgotten.left else "information"))

    app.run_worker(work())


async def _holds_facts_of(main: MainScreen, user: str) -> bool:
    entries = await main.agent.memory.entries()
    return any(msg.get_metadata(REPLACES) == f"mem0:{user}" for msg, _ in entries)
