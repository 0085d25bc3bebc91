"""What the program writes to a real terminal, byte for byte, and what it makes of what a terminal sends."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.tui.terminal.program import HOSTILE
from tests.tui.terminal.pseudo_terminal import LIMIT, PseudoTerminal

CTRL_O, CTRL_Q, F9 = "\x0f", "\x11", "\x1b[20~"
WELCOME = "lists the commands"


def kinds(terminal: PseudoTerminal) -> set[str]:
    """The control sequences without their numbers: what they do, not where."""
    return {"".join(character for character in control if not character.isdigit()) for control in terminal.controls}


def typed(folder: Path) -> list[str]:
    return [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]


def test_nothing_that_is_shown_reaches_the_terminal_as_a_control_sequence(tmp_path: Path) -> None:
    """T06: in model text, reasoning, tool result, file name, mark, name, hint and error."""
    with PseudoTerminal("plain", tmp_path / "plain") as plain:
        plain.wait_for(WELCOME)
        plain.send("hello\r")
        plain.wait_for("First answer.")
        plain.send(CTRL_O)
        plain.send("again\r")
        plain.wait_for("Second answer.")
        plain.send(CTRL_Q)
        assert plain.wait_for_end() == 0
    with PseudoTerminal("hostile", tmp_path / "hostile") as hostile:
        hostile.wait_for("recalled")
        hostile.send(CTRL_O)
        hostile.send("hello\r")
        hostile.wait_for("refused: ␛]52;c;aGk=␇ ␛]0;hi␇")
        hostile.send(CTRL_Q)
        assert hostile.wait_for_end() == 0
    assert kinds(hostile) <= kinds(plain)
    for sequence in HOSTILE[:-1]:
        assert sequence.encode() not in hostile.written
    assert "␛]0;tool␇ \\x9b2J" in hostile.text


def test_keys_as_terminals_send_them(tmp_path: Path) -> None:
    """T27 and T19: every byte on its own."""
    questions = [
        (b"a\nb\r", "a\nb"),
        (b"c\x1b[13;2ud\r", "c\nd"),
        (b"e\x1b[27;2;13~f\r", "e\nf"),
        (b"g\x1b\rh\r", "g\nh"),
        (b"i\r", "i"),
        ("한글\r".encode(), "한글"),
    ]
    with PseudoTerminal("patient", tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        for number, (keys, _) in enumerate(questions, 1):
            for byte in keys:
                terminal.send(bytes([byte]))
            terminal.wait_for(f"Answer {number}.")
        terminal.send(CTRL_Q)
        assert terminal.wait_for_end() == 0
    assert typed(tmp_path) == [text for _, text in questions]


def test_a_paste_whose_end_comes_in_pieces_is_one_paste(tmp_path: Path) -> None:
    """T17."""
    text = "\n".join(f"line {number}" for number in range(100))
    with PseudoTerminal("plain", tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        pasted = text.replace("\n", "\r").encode()
        for piece in (b"\x1b[20", b"0~", pasted[:301], pasted[301:], b"\x1b[2", b"01~"):
            terminal.send(piece)
            terminal.pause()
        terminal.wait_for("line 99")
        terminal.send("\r")
        terminal.wait_for("First answer.")
        terminal.send(CTRL_Q)
        assert terminal.wait_for_end() == 0
    assert typed(tmp_path) == [text]


def test_it_ends_when_its_terminal_is_gone_while_much_is_drawn(tmp_path: Path) -> None:
    with PseudoTerminal("plain", tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        terminal.send("hello\r" + "more " * 200)
        terminal.hang_up()
        assert terminal.process.wait(LIMIT) == 128 + signal.SIGHUP


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_with_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals) -> None:
    with PseudoTerminal("plain", tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        terminal.signal(number)
        assert terminal.wait_for_end() == 128 + number
        assert terminal.is_restored
    assert terminal.controls[-8:].count("\x1b[?1049l") == 1


@pytest.mark.usefixtures("home")
def test_leaving_a_session_that_could_not_be_saved_says_so(tmp_path: Path) -> None:
    """P12 and P13: the status line that has said it is gone."""
    (tmp_path / "file").touch()
    with PseudoTerminal("", tmp_path, arguments=["--data-dir", str(tmp_path / "file" / "data")]) as terminal:
        terminal.wait_for("not saved")
        terminal.send(CTRL_Q)
        assert terminal.wait_for_end() == 0
    after = terminal.text_after("\x1b[?1049l")
    assert after == "mnemoscope: This session is not being saved (Not a directory; see --data-dir)."


@pytest.mark.parametrize("case", ["failing", "failing_to_read"])
def test_an_internal_error_is_one_line_and_the_rest_is_in_the_log(tmp_path: Path, case: str) -> None:
    with PseudoTerminal(case, tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        terminal.send(F9)
        assert terminal.wait_for_end() == 1
        assert terminal.is_restored
    after = terminal.text_after("\x1b[?1049l")
    assert after.split("\r\n")[0] == (
        f"mnemoscope: internal error: RuntimeError. The session is saved. Details are in {tmp_path}/mnemoscope.log."
    )
    assert "Traceback" not in terminal.text
    log = (tmp_path / "mnemoscope.log").read_text()
    assert "RuntimeError: a fault" in log
    assert "[/x]" in log
    assert "on_key" in log


@pytest.mark.parametrize(
    "keys", ["/new\r/new\r/new\r", "/new\r", "\x10a", "\x10", "\x10\x1b[5~\x1b[6~", "/theme\r\x1b[6~", "\x10new\r"]
)
def test_leaving_is_no_fault_whatever_is_half_done(tmp_path: Path, keys: str) -> None:
    """Keys that are pressed before the panes are there, and leaving while a session begins or the palette searches."""
    with PseudoTerminal("plain", tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        terminal.send(keys + CTRL_Q)
        assert terminal.wait_for_end() == 0
        assert terminal.is_restored
    assert "error" not in terminal.text_after("\x1b[?1049l")


def test_it_is_drawn_on_the_terminal_though_standard_error_is_a_file(tmp_path: Path) -> None:
    """T23: `mnemoscope 2> errors`."""
    errors = tmp_path / "errors"
    with errors.open("wb") as file, PseudoTerminal("plain", tmp_path / "plain", error_file=file) as terminal:
        terminal.wait_for(WELCOME)
        terminal.send(CTRL_Q)
        assert terminal.wait_for_end() == 0
    assert errors.read_bytes() == b""


def test_a_secret_in_a_variable_is_not_in_the_log(tmp_path: Path) -> None:
    with PseudoTerminal("failing", tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        terminal.send(F9)
        terminal.wait_for_end()
    assert "sk-secret" not in (tmp_path / "mnemoscope.log").read_text().replace('api_key = "sk-secret-secret"', "")
    assert "sk-secret" not in terminal.text


def test_bytes_that_make_no_sense_cost_themselves(tmp_path: Path) -> None:
    """T19 and T20: text in another encoding, halves of characters, keys that are let go, keys that there are not."""
    questions = [
        (b"caf\xe9 x\r", "caf\ufffd x"),
        (b"a\xff\xfe\xc3(\xed\xa0\xbd\xe4\xb8b\r", "a\ufffd\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffdb"),
        (b"\x1b[200~\xb0\xa1\xb0\xa2\x1b[201~\r", "\ufffd" * 4),
        (b"\x1b[M\xa0\xff\xffa\x1b[97;1:3u\x1b[98;1:1u\x1b[99:67;1u\x1b[27;5:3u\r", "abc"),
        (b"a\x1b[13;2:1ub\x1b[13;2:3u\r", "a\nb"),
        (b"a\x1b[9999999999;5u\x1b[1114112;1ub\x1b[48;0;0;0;0t\x1b[<0;3;3M\r", "ab"),
    ]
    with PseudoTerminal("patient", tmp_path) as terminal:
        terminal.wait_for(WELCOME)
        for number, (keys, _) in enumerate(questions, 1):
            terminal.send(keys)
            terminal.wait_for(f"Answer {number}.")
        terminal.send(CTRL_Q)
        assert terminal.wait_for_end() == 0
    assert typed(tmp_path) == [text for _, text in questions]
