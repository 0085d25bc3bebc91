"""Commands about working memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_core.errors import MnemoscopeError
from agent_core.marks import MemoryFilter
from tui.handlers.errors import CommandError
from tui.mark_syntax import (
    MarkSyntaxError,
    describe_filter,
    explain_contradiction,
    format_marks,
    parse_filter,
    parse_filters,
    parse_marks,
)

if TYPE_CHECKING:
    from tui.screens.main import MainScreen

_OFF = "off"


async def mark(main: MainScreen, argument: str) -> None:
    """Set the marks of what is typed next, show them, or set none."""
    if not argument:
        marks = format_marks(main.chat.marks)
        main.app.notify(f"What you say is marked {marks}." if marks else "What you say is not marked: /mark NAME does.")
        return
    try:
        main.chat.marks = () if argument == _OFF else parse_marks(argument)
    except MarkSyntaxError as error:
        raise CommandError(f"/mark: {error}") from error


async def set_filter(main: MainScreen, argument: str) -> None:
    """Set or show the filter that governs what is sent."""
    agent = main.agent
    if not argument:
        main.app.notify(f"The model sees: {describe_filter(agent.memory_filter)}.")
        return
    keep_summary = agent.memory_filter.prepend_summary
    try:
        wanted = MemoryFilter() if argument == _OFF else parse_filter(argument, prepend_summary=keep_summary)
    except MarkSyntaxError as error:
        raise CommandError(f"/filter: {error}") from error
    agent.memory_filter = wanted
    main.app.notify(f"The model sees: {describe_filter(wanted)}. {explain_contradiction(wanted)}".rstrip())


async def compare(main: MainScreen, argument: str) -> None:
    """Show two filters side by side, or one beside the one that is applied."""
    applied = main.agent.memory_filter
    try:
        filters = parse_filters(argument, prepend_summary=applied.prepend_summary)
    except MarkSyntaxError as error:
        raise CommandError(f"/compare: {error}") from error
    if not argument or len(filters) > 2:
        raise CommandError("/compare takes two filters with a | between them, such as: /compare planning | !draft")
    from tui.screens.comparing import comparing_screen

    first, second = filters if len(filters) == 2 else (applied, *filters)
    main.app.push_screen(comparing_screen(main.views.content.stored, first, second))


async def rules(main: MainScreen, argument: str) -> None:
    """Show the rules that set marks."""
    from tui.screens.reading import ReadingScreen
    from tui.views.rules import rule_sections

    counts = main.views.content.stored.mark_counts
    sections = rule_sections(main.runtime.settings.mark_rules, main.agent.mark_rules, counts)
    main.app.push_screen(ReadingScreen("Mark rules", sections))


async def summary(main: MainScreen, argument: str) -> None:
    """Switch the summary on or off in what is sent."""
    agent = main.agent
    if argument in ("on", "off"):
        agent.memory_filter = replace(agent.memory_filter, prepend_summary=argument == "on")
    elif argument:
        raise CommandError(f"/summary takes on or off, not {argument}.")
    state = "on" if agent.memory_filter.prepend_summary else "off: what it covers is sent instead"
    main.app.notify(f"The summary is {state}.")


async def undo(main: MainScreen, argument: str) -> None:
    """Take back what a person changed last."""
    await _go(main, main.editor.undo, "Undone: {}. /redo does it again.", "There is nothing to undo.")


async def redo(main: MainScreen, argument: str) -> None:
    """Do again what was undone last."""
    await _go(main, main.editor.redo, "Done again: {}. /undo takes it back.", "There is nothing to do again.")


async def compact(main: MainScreen, argument: str) -> None:
    """Summarise the older part of the conversation."""
    if main.chat.is_working:
        raise CommandError("A reply is running; /compact again when it has ended, or Esc stops it.")

    async def work() -> bool:
        try:
            if not await main.chat.conversation.compact(argument):
                main.app.notify("There is nothing old enough to summarise.")
        except MnemoscopeError:
            # The trace has told it; what was queued meanwhile may be said all the same.
            pass
        except NotImplementedError as error:
            main.app.notify(f"This memory cannot be summarised: {error}.", severity="warning")
        return True

    main.chat.run(work)


async def _go(main: MainScreen, step: Callable[[], Awaitable[str | None]], done: str, nothing: str) -> None:
    """Go a step back or forward, and say what came of it."""
    try:
        label = await step()
    except NotImplementedError as error:
        raise CommandError(f"{error}.") from error
    main.app.notify(nothing if label is None else done.format(label))
