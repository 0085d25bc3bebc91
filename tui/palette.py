"""The palette, and the commands of the one table in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

from textual import work
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.css.query import NoMatches

from tui.commands import APP, COMMANDS, Command

if TYPE_CHECKING:
    from tui.app import MnemoscopeApp


class Palette(CommandPalette):
    """Takes keys before there is anything to choose, and being closed while it still searches."""

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        with suppress(NoMatches):
            await _SEARCH(self, search_value)

    def _action_command_list(self, action: str) -> None:
        # Options that were not laid out yet have no lines to go to.
        with suppress(KeyError):
            super()._action_command_list(action)


_SEARCH: Callable[[CommandPalette, str], Awaitable[None]] = CommandPalette._gather_commands.__wrapped__  # type: ignore[attr-defined]


class TableCommands(Provider):
    """Offers every command that does not belong to one widget."""

    async def discover(self) -> Hits:
        """All of them, as long as nothing is typed."""
        for command in _offered():
            yield DiscoveryHit(_name(command), self._carry_out(command), help=command.help)

    async def search(self, query: str) -> Hits:
        """Those whose name or meaning is like what is typed."""
        matcher = self.matcher(query)
        for command in _offered():
            text = f"{_name(command)}: {command.help}"
            if (score := matcher.match(text)) > 0:
                yield Hit(score, matcher.highlight(text), self._carry_out(command), text=text)

    def _carry_out(self, command: Command) -> partial[None]:
        return partial(cast("MnemoscopeApp", self.app).choose, command)


def _offered() -> list[Command]:
    return [command for command in COMMANDS if command.scope == APP and command.id != "palette"]


def _name(command: Command) -> str:
    name = command.id.replace("_", " ")
    ways = [*command.key_labels, *([f"/{command.slash}"] if command.slash else [])]
    return f"{name} ({', '.join(ways)})" if ways else name
