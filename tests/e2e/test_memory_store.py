"""A store that fails in mid-chat, in a real terminal and a real process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases import RedisServer
from tests.e2e.conftest import Start


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


def test_the_notice_stays_until_the_server_is_back_and_leaving_says_what_is_not_written(
    start: Start, server: RedisServer
) -> None:
    terminal = start("--memory", server.url)
    terminal.wait_for("ready", "offline")
    terminal.say("hello")
    terminal.wait_for("No language model is connected yet")
    server.stop()
    terminal.wait_for("memory not stored", "is the server running?")
    server.start()
    terminal.wait_for("The memory store is back")
    terminal.until(lambda: "memory not stored" not in terminal.screen(), "the notice to go")
    server.stop()
    terminal.wait_for("memory not stored")
    terminal.say("where do I live?")
    terminal.wait_for("I find nothing about that")
    terminal.press("C-q")
    terminal.wait_for("2 messages could not be written to the memory store", "exit code 0")


def test_an_address_that_cannot_be_used_is_told_before_the_screen_opens(start: Start) -> None:
    terminal = start("--memory", "chat.db")
    terminal.wait_for("mnemoscope: The memory store is at sqlite:///FILE", "exit code 1")
