"""What a text that begins with a slash means, and how it may be completed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from tui.commands import Command, nearest_slash, slash_commands

_COMMAND = re.compile(r"/(?P<name>[^\s/]*)(?:\s+(?P<argument>.*))?", re.DOTALL)


class PlainText(NamedTuple):
    """Something to be said to the agent."""

    text: str


class SlashCall(NamedTuple):
    """A command, and what stands behind its name."""

    command: Command
    argument: str


class UnknownSlash(NamedTuple):
    """No command is called that; `nearest` are names that are spelled much alike."""

    name: str
    nearest: list[str]

    def __str__(self) -> str:
        near = f" Did you mean {' or '.join(f'/{name}' for name in self.nearest)}?" if self.nearest else ""
        return f"There is no command /{self.name}.{near} /help lists all; begin with // to send a text with a slash."


class Completion(NamedTuple):
    """One way to go on: the text that takes the place of what is typed, what is shown, and what it does."""

    text: str
    label: str
    help: str
    is_complete: bool


def parse_slash(text: str) -> PlainText | SlashCall | UnknownSlash:
    """What is meant by `text`. A path such as `/etc/hosts` is text; `//x` is the text `/x`."""
    if text.startswith("//"):
        return PlainText(text[1:])
    match = _COMMAND.fullmatch(text.rstrip()) if text.startswith("/") else None
    if match is None:
        return PlainText(text)
    name = match["name"].lower()
    command = slash_commands().get(name)
    if command is None:
        return UnknownSlash(match["name"], nearest_slash(name))
    return SlashCall(command, (match["argument"] or "").strip())


Choices = Callable[[Command], Iterable[str]]


def completions(text: str, choices: Choices) -> list[Completion]:
    """The ways in which a slash command that is being typed may go on.

    Args:
        text: all that is typed.
        choices: gives what may be filled in behind a command's name.
    """
    if not text.startswith("/") or text.startswith("//") or "\n" in text:
        return []
    name, blank, argument = text[1:].partition(" ")
    commands = slash_commands()
    if not blank:
        return _names(name.lower(), commands)
    command = commands.get(name.lower())
    if command is None:
        return []
    before, _, last = argument.rpartition(" ")
    stem = f"/{name} {before} " if before else f"/{name} "
    return [
        Completion(stem + choice, choice, "", True)
        for choice in choices(command)
        if choice.startswith(last) and choice != last
    ]


def _names(typed: str, commands: Mapping[str, Command]) -> list[Completion]:
    return [_name(name, command) for name, command in commands.items() if name.startswith(typed)]


def _name(name: str, command: Command) -> Completion:
    label = f"/{name} {command.usage}".rstrip()
    return Completion(f"/{name} " if command.usage else f"/{name}", label, command.help, not command.usage)
