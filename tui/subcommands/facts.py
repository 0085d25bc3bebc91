"""`mnemoscope facts`: the facts that mem0 keeps about a user, listed, searched and changed by hand."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable

from tui.cli import Options
from tui.config import Settings
from tui.typed_text import typed_text

_INTERRUPTED = 128 + 2


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add what can be done with facts."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")

    def action(name: str, what: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        # Here too, since this is where people put them; without a default, so that one given before is kept.
        added.add_argument("--user", metavar="ID", default=argparse.SUPPRESS, help="whose facts")
        added.add_argument("--data-dir", metavar="DIR", default=argparse.SUPPRESS, help="where they are kept")
        added.add_argument("--json", action="store_true", help="print JSON, one value a line")
        return added

    action("list", "list all facts, the newest first")
    search = action("search", "find the facts that fit a question best")
    search.add_argument("question", nargs="+", type=typed_text, metavar="QUESTION")
    search.add_argument("-n", "--limit", type=_count, default=10, metavar="N", help="so many at most (default: 10)")
    add = action("add", "store a fact as it is given")
    add.add_argument("text", nargs="+", type=typed_text, metavar="TEXT")
    for name, what in (("delete", "delete a fact"), ("history", "show what has happened to a fact")):
        one = action(name, what)
        one.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    forget = action("forget", "forget everything about the user: facts, their history, and the sessions they come from")
    forget.add_argument("--yes", action="store_true", help="do it; without this nothing is deleted")
    action("reindex", "make all facts comparable by the embedding model that is in use now")


def run(options: Options, settings: Settings) -> int:
    """Do what was asked for, and return the exit code.

    Raises:
        MnemoscopeError: it could not be done.
    """
    from tui.subcommands.facts_actions import ACTIONS

    action = ACTIONS[options.group["action"]]
    try:
        return asyncio.run(_run(action, options, settings))
    except KeyboardInterrupt:
        return _INTERRUPTED


async def _run(action: Callable[..., Awaitable[int]], options: Options, settings: Settings) -> int:
    from tui.long_term_memory import close_facts, make_facts

    memory = make_facts(settings)
    try:
        return await action(memory, options, settings)
    finally:
        await close_facts(memory, 0)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {number}")
    return number
