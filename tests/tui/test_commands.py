"""The one table of commands."""

from __future__ import annotations

from collections import Counter

from textual.binding import Binding

from tui.commands import APP, COMMANDS, bindings
from tui.handlers import HANDLERS


def test_every_command_of_the_app_has_a_handler_and_every_handler_a_command() -> None:
    assert {command.id for command in COMMANDS if command.scope == APP} == HANDLERS.keys()


def test_a_slash_command_is_one_of_the_app() -> None:
    assert all(command.scope == APP for command in COMMANDS if command.slash)


def test_no_key_means_two_things_in_one_place() -> None:
    keys = Counter((command.scope, key) for command in COMMANDS for key in command.key_names)
    assert not [place for place, count in keys.items() if count > 1]


def test_keys_that_are_others_in_some_terminals_are_not_bound() -> None:
    """Ctrl+M is Enter, Ctrl+I is Tab, Ctrl+H is Backspace there."""
    keys = {key for command in COMMANDS for key in command.key_names}
    assert not keys & {"ctrl+m", "ctrl+i", "ctrl+h", "ctrl+z"}
    # Some terminals keep Ctrl+S to themselves; Esc offers to save as well.
    assert [command.id for command in COMMANDS if "ctrl+s" in command.key_names] == ["save"]


def test_a_newline_can_be_typed_in_every_terminal_and_the_help_says_so() -> None:
    """T27."""
    newline = next(command for command in COMMANDS if command.id == "newline")
    assert newline.key_names == ("ctrl+j", "shift+enter", "alt+enter")
    assert "ctrl+j works in every terminal" in newline.help


def test_every_command_says_what_it_does_in_one_line() -> None:
    for command in COMMANDS:
        assert command.help
        assert "\n" not in command.help
        assert command.keys or command.slash


def test_the_footer_shows_what_has_a_label() -> None:
    shown = [each.description for each in bindings(APP) if isinstance(each, Binding) and each.show]
    assert shown == [command.label for command in COMMANDS if command.scope == APP and command.label]
