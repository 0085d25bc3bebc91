"""`mnemoscope memory …`: the memory files from the shell. Each action is a function of one of the modules beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.subcommands.memory.arguments import add_actions

if TYPE_CHECKING:
    from tui.cli import Options
    from tui.config import Settings

__all__ = ["add_actions", "run"]


def run(options: Options, settings: Settings) -> int:
    """Carry out an action; see `dispatch`, which is imported only when something is to be done."""
    from tui.subcommands.memory.dispatch import dispatch

    return dispatch(options, settings)
