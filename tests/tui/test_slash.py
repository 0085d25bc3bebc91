"""What a text with a slash means."""

from __future__ import annotations

import pytest

from tui.commands import COMMANDS, Command, nearest_slash, slash_commands
from tui.slash import PlainText, SlashCall, UnknownSlash, completions, parse_slash


@pytest.mark.parametrize("text", ["hello", "/etc/hosts is broken", "/", "/ x", "a /mark b", "", " /mark x", "/a/b"])
def test_what_is_no_command_is_text(text: str) -> None:
    meaning = parse_slash(text)
    if text in ("/", "/ x"):
        assert isinstance(meaning, UnknownSlash)
    else:
        assert meaning == PlainText(text)


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/mark", "mark", ""),
        ("/mark  planning  ", "mark", "planning"),
        ("/MARK x y", "mark", "x y"),
        ("/compact keep\nthe names", "compact", "keep\nthe names"),
        ("/quit\n", "quit", ""),
    ],
)
def test_a_command_and_what_stands_behind_it(text: str, name: str, argument: str) -> None:
    assert parse_slash(text) == SlashCall(slash_commands()[name], argument)


def test_two_slashes_send_one() -> None:
    assert parse_slash("//mark x") == PlainText("/mark x")


@pytest.mark.parametrize(
    ("typed", "near"), [("fliter", "filter"), ("qit", "quit"), ("mar", "mark"), ("themes", "theme")]
)
def test_an_unknown_command_names_the_nearest(typed: str, near: str) -> None:
    meaning = parse_slash(f"/{typed} x")
    assert isinstance(meaning, UnknownSlash)
    assert near in meaning.nearest
    assert f"Did you mean /{meaning.nearest[0]}" in str(meaning)


def test_a_name_like_no_other_has_no_neighbours() -> None:
    assert nearest_slash("xyzzyx") == []
    assert str(UnknownSlash("[/x]", [])).startswith("There is no command /[/x]. /help lists all")


def choices(command: Command) -> tuple[str, ...]:
    return command.choices


def test_a_beginning_is_completed_from_the_table() -> None:
    offered = completions("/mo", choices)
    assert [each.text for each in offered] == ["/model ", "/mode "]
    assert offered[0].label == "/model [NAME [BASE_URL]]"
    assert not offered[0].is_complete
    assert [(each.text, each.is_complete) for each in completions("/ret", choices)] == [("/retry", True)]


def test_a_slash_alone_offers_everything() -> None:
    assert len(completions("/", choices)) == len(slash_commands())


def test_what_may_be_filled_in_is_completed() -> None:
    assert [each.text for each in completions("/mode ac", choices)] == ["/mode accept_edits"]
    assert [each.text for each in completions("/mode bypass", choices)] == []
    assert [each.text for each in completions("/filter a b", lambda _: ["beta", "alpha"])] == ["/filter a beta"]


@pytest.mark.parametrize("text", ["", "hello", "//x", "/nothing x", "/mark a\nb"])
def test_there_may_be_nothing_to_complete(text: str) -> None:
    assert completions(text, choices) == []


def test_slash_names_are_unique_and_plain() -> None:
    names = [command.slash for command in COMMANDS if command.slash]
    assert len(names) == len(set(names))
    assert all(name.isascii() and name.isalnum() and name.islower() for name in names)
