"""However the program ends, the terminal is as it was, and nothing that was said is lost."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Start, command
from tests.fake_server import FakeServer, Gate, reply, serving_in_thread, text, tool_call


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_a_clean_terminal_and_its_number(start: Start, number: signal.Signals) -> None:
    terminal = start()
    terminal.wait_for("ready")
    assert "alternate_on=1" in terminal.flags()
    terminal.signal(number)
    assert terminal.exit_code() == 128 + number
    assert terminal.flags() == "alternate_on=0 mouse_any_flag=0 mouse_sgr_flag=0 keypad_flag=0 keypad_cursor_flag=0"
    assert "Traceback" not in terminal.screen()


def test_a_signal_in_mid_answer_keeps_what_has_come(start: Start, home: Path) -> None:
    gate = Gate()
    with serving_in_thread(FakeServer()) as server:
        server.play(reply(text("The answer begins"), gate))
        options = ("--model", "m", "--base-url", server.base_url)
        terminal = start(*options)
        terminal.wait_for("ready")
        terminal.say("go on")
        terminal.wait_for("The answer begins")
        terminal.signal(signal.SIGTERM)
        assert terminal.exit_code() == 128 + signal.SIGTERM
        gate.open()
        terminal.start(command("-c", *options))
        terminal.wait_for("go on", "The answer begins", "ready")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_text_that_is_being_edited_is_kept_and_told_of(start: Start, home: Path, number: signal.Signals) -> None:
    """At a hang-up nobody reads the last words, so the next start tells of it too, once."""
    terminal = start(columns=200)
    terminal.wait_for("ready")
    terminal.press("F5")
    terminal.wait_for("no memory yet")
    terminal.press("n")
    terminal.wait_for("A new memory")
    terminal.press("C-End")
    terminal.type("I like oolong")
    terminal.wait_for("I like oolong")
    terminal.signal(number)
    assert terminal.exit_code() == 128 + number
    (kept,) = (home / "data/mnemoscope/drafts").glob("*/A_new_memory.md")
    assert kept.read_text().endswith("I like oolong")
    assert "A new memory was not saved. What you wrote is in" in terminal.screen()
    terminal.start(command())
    terminal.wait_for("ready", "a text was not saved yet: it is in")
    terminal.press("C-q")
    terminal.exit_code()
    terminal.start(command())
    terminal.wait_for("ready")
    assert "not saved yet" not in terminal.screen()


def test_a_program_killed_in_a_tool_is_gone_on_with(start: Start, home: Path) -> None:
    """C02, P02: kill -9 during a tool; restart with -c; send. The call is shown as interrupted."""
    with serving_in_thread(FakeServer()) as server:
        server.play(
            reply(text("Let me write."), tool_call("Write", {"file_path": str(home / "out.md"), "content": "x"})),
            reply(text("It goes on.")),
        )
        options = ("--model", "m", "--base-url", server.base_url)
        terminal = start(*options)
        terminal.wait_for("ready")
        terminal.say("write it")
        terminal.wait_for("asks you")
        terminal.signal(signal.SIGKILL)
        assert terminal.exit_code() == 128 + signal.SIGKILL

        terminal.start(command("-c", *options))
        terminal.wait_for("write it", "Let me write.", "Interrupted", "ready")
        terminal.say("hi")
        terminal.wait_for("It goes on.")
        assert not (home / "out.md").exists()
        terminal.press("C-q")
        assert terminal.exit_code() == 0


def test_ctrl_c_twice_leaves(start: Start) -> None:
    terminal = start()
    terminal.wait_for("ready")
    terminal.press("C-c")
    terminal.press("C-c")
    assert terminal.exit_code() == 0


def test_an_internal_error_is_one_line_and_the_place_of_a_log(start: Start, home: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Breaker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tui.app':\n"
        "            sys.meta_path.remove(self)\n"
        "            from tui.widgets.status_line import StatusLine\n"
        "            def broken(self, *a, **k): raise ZeroDivisionError('oh [/no]')\n"
        "            StatusLine.render = StatusLine.render_line = StatusLine.show = broken\n"
        "sys.meta_path.insert(0, Breaker())\n"
    )
    terminal = start(PYTHONPATH=f"{tmp_path}:{Path(__file__).parents[2]}")
    assert terminal.exit_code() == 1
    assert "internal error" in terminal.screen()
    log = home / "data" / "mnemoscope" / "mnemoscope.log"
    assert "ZeroDivisionError" in log.read_text()
    assert "Traceback" not in terminal.screen()


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (10, 3), (1, 1), (200, 60)])
def test_it_starts_and_ends_at_every_size(start: Start, columns: int, rows: int) -> None:
    """T22: even where there is no room for anything."""
    terminal = start(columns=columns, rows=rows)
    terminal.until(lambda: "alternate_on=1" in terminal.flags(), "the program")
    terminal.resize(80, 24)
    terminal.wait_for("ready")
    terminal.press("C-q")
    assert terminal.exit_code() == 0


def test_a_session_that_cannot_be_saved_is_said_so_and_the_chat_goes_on(start: Start, tmp_path: Path) -> None:
    """P12, P13: a place that cannot be written to; the warning stays."""
    (tmp_path / "file").write_text("")
    terminal = start("--data-dir", str(tmp_path / "file" / "data"), "--workdir", str(tmp_path))
    terminal.wait_for("ready", "not saved", "This session is not being saved")
    terminal.say("hello")
    terminal.wait_for("ready", "not saved", "No language model is connected")
    terminal.press("C-q")
    assert terminal.exit_code() == 0
