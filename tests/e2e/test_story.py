"""The whole path in a real terminal: tell it something, allow it, leave, start again, ask."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.e2e.conftest import Start, command
from tests.e2e.terminal import Terminal
from tests.fake_server import Answer, FakeServer, Request, reply, serving_in_thread, text, tool_call

TOLD = "remember that I live in Hangzhou and like short answers"
ASKED = "where do I live?"


def allow_until(terminal: Terminal, text: str, home: Path) -> None:
    """Allow every change that is asked about with a click, until a text is on the screen."""
    clicked: dict[int, float] = {}

    def click_or_be_done() -> bool:
        screen = terminal.screen()
        asked, answered = questions(home)
        # What is asked may be in the session before it is on the screen, and a click then goes astray: click again.
        is_due = time.monotonic() - clicked.get(answered, 0.0) > 2.0
        if asked > answered and "y  once" in screen and is_due:
            clicked[answered] = time.monotonic()
            terminal.click("y  once")
        return text in screen

    terminal.until(click_or_be_done, repr(text))


def questions(home: Path) -> tuple[int, int]:
    """How many questions have been asked, and how many answered, as the sessions tell."""
    files = (home / "data" / "mnemoscope" / "sessions").glob("*.jsonl")
    told = "".join(path.read_text() for path in files)
    return told.count('{"type":"permission_asked"'), told.count('{"type":"permission_answered"')


def memory_of(workdir: Path) -> dict[str, str]:
    """The texts of the memory files, by name."""
    return {path.name: path.read_text() for path in (workdir / "Memory").glob("*.md")}


def test_what_it_was_told_it_still_knows_after_a_restart(start: Start, home: Path, workdir: Path) -> None:
    terminal = start(columns=200, rows=60)
    terminal.wait_for("ready", "offline")
    terminal.say(TOLD)
    terminal.wait_for("asks you", "+- I live in Hangzhou")
    assert not (workdir / "Memory").exists()
    allow_until(terminal, "Saved:", home)
    terminal.wait_for("ready")
    memory = memory_of(workdir)
    assert "I live in Hangzhou" in memory["user_profile.md"]
    assert "](user_profile.md) — " in memory["MEMORY.md"]
    terminal.press("F3")
    terminal.wait_for("[tool]", "remember that I live in Hangzhou")
    terminal.press("F5")
    terminal.wait_for("user_profile.md", "feedback_answer_style.md")
    terminal.press("C-q")
    assert terminal.exit_code() == 0

    terminal.start(command())
    terminal.wait_for("ready")
    terminal.say(ASKED)
    terminal.wait_for("From memory:", "“I live in Hangzhou”", "ready")
    terminal.press("F3")
    terminal.wait_for("[hint]")
    terminal.press("F6")
    terminal.wait_for("injected", "user_profile.md")
    terminal.press("C-q")
    assert terminal.exit_code() == 0


def model_that_saves_and_recalls(request: Request) -> Answer:
    """Does what a language model would: saves what it is told to by `Write`, chooses files, answers from the hint."""
    last = request.messages[-1]
    said = str(last["content"])
    if request.body.get("response_format"):
        (field,) = request.body["response_format"]["json_schema"]["schema"]["properties"]
        return reply(text(json.dumps({field: ["home.md"]})))
    system = request.messages[0]["content"]
    folder = system.partition("Memory folder: ")[2].splitlines()[0].strip("` ")
    if last["role"] == "user" and "remember" in said:
        note = "---\nname: Home\ndescription: Where the user lives\ntype: user\n---\nThe user lives in Hangzhou.\n"
        index = "- [Home](home.md) — where the user lives\n"
        return reply(
            text("I note that."),
            tool_call("Write", {"file_path": f"{folder}/home.md", "content": note}),
            tool_call("Write", {"file_path": f"{folder}/MEMORY.md", "content": index}, index=1),
        )
    if last["role"] == "tool":
        return reply(text("It is **noted**."))
    hints = [message for message in request.messages if "lives in Hangzhou" in str(message["content"])]
    return reply(text("You live in Hangzhou." if hints else "I do not know."))


def test_the_same_with_a_model_behind_an_endpoint(start: Start, home: Path, workdir: Path) -> None:
    server = FakeServer(models={"qwen": {"context_length": 32768}}, brain=model_that_saves_and_recalls)
    with serving_in_thread(server):
        options = ("--model", "qwen", "--base-url", server.base_url)
        terminal = start(*options)
        terminal.wait_for("ready", "qwen")
        terminal.say(TOLD)
        terminal.wait_for("asks you")
        allow_until(terminal, "It is noted.", home)
        assert memory_of(workdir).keys() == {"home.md", "MEMORY.md"}
        terminal.press("C-q")
        assert terminal.exit_code() == 0

        before = len(server.requests)
        terminal.start(command(*options))
        terminal.wait_for("ready")
        # Having asked for the size of the window, it has loaded the SDK; a person types more slowly than a test.
        terminal.until(lambda: any(request.path == "/v1/models" for request in server.requests[before:]), "a request")
        terminal.say(ASKED)
        terminal.wait_for("You live in Hangzhou.")
        terminal.press("C-q")
        assert terminal.exit_code() == 0
