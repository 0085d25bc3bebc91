"""The command line: usage, exit codes, and what must not be imported for it. All of it in real processes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tui.cli import SETTING_OPTIONS, Options, parse

pytestmark = pytest.mark.usefixtures("home")

ROOT = Path(__file__).parents[2]


def run(*arguments: str, stdin: bytes | None = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command with standard input, output and error as pipes."""
    return subprocess.run(
        [sys.executable, "-m", "tui", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        timeout=60,
    )


def imported_by(*arguments: str) -> set[str]:
    """The names of all modules that a command has imported when it ends."""
    program = (
        "import sys\nfrom tui.__main__ import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\nprint(' '.join(sys.modules), file=sys.stderr)"
    )
    answer = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(answer.stderr.split())


# --- Usage


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["sessions", "-h"], ["config", "-h"]])
def test_help_goes_to_standard_output_and_is_a_success(arguments: list[str]) -> None:
    answer = run(*arguments)
    assert answer.returncode == 0
    assert answer.stdout.startswith(b"usage: mnemoscope")
    assert answer.stderr == b""


def test_the_help_names_commands_examples_and_where_the_key_comes_from() -> None:
    text = run("--help").stdout.decode()
    for word in ("ask", "sessions", "config", "--model", "--base-url", "--resume", "OPENAI_API_KEY", "examples:"):
        assert word in text


def test_the_version_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert run("--version").stdout.decode() == f"mnemoscope {version('mnemoscope')}\n"


@pytest.mark.parametrize("before", [[], ["ask"], ["memory", "list"]])
def test_no_option_is_taken_for_a_longer_one(before: list[str], tmp_path: Path) -> None:
    answer = run(*before, f"--work={tmp_path}")
    assert answer.returncode == 2
    assert b"unrecognized arguments: --work=" in answer.stderr


@pytest.mark.parametrize(
    "arguments", [["--bogus"], ["bogus"], ["-c", "--resume", "x"], ["--resume"], ["ask", "--bogus"], ["sessions", "x"]]
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(arguments: list[str]) -> None:
    answer = run(*arguments)
    assert answer.returncode == 2
    assert answer.stdout == b""
    assert b"mnemoscope" in answer.stderr.splitlines()[-1]


def test_wrong_usage_does_nothing_to_the_terminal() -> None:
    """T06: the words that are complained about are seen, and not done."""
    assert "--\u241b[2J\\x9bm" in run("--\x1b[2J\x9bm").stderr.decode()


def test_options_may_stand_before_or_behind_the_command() -> None:
    before = parse(["--model", "m", "--data-dir", "d", "-c", "ask", "why", "so?"])
    behind = parse(["ask", "--model", "m", "--data-dir", "d", "-c", "why", "so?"])
    assert before == behind
    assert before.settings == {**dict.fromkeys(SETTING_OPTIONS), "model": "m", "data_dir": "d"}
    assert (before.command, before.go_on, before.question) == ("ask", True, "why so?")
    assert parse([]) == Options(settings=dict.fromkeys(SETTING_OPTIONS))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["ask", "--help"], ["memory", "list", "--help"]])
def test_help_and_version_import_nothing_of_weight(arguments: list[str]) -> None:
    heavy = {"textual", "rich", "openai", "httpx", "mem0", "frontmatter", "yaml", "agent_core", "memory"}
    assert not imported_by(*arguments) & heavy


@pytest.mark.parametrize("arguments", [["sessions"], ["config"], ["ask", "hello"], ["memory", "list"]])
def test_commands_without_a_screen_and_without_a_model_import_neither(arguments: list[str]) -> None:
    assert not imported_by(*arguments) & {"textual", "openai", "httpx", "mem0"}


# --- No terminal


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("stdin", [b"hi\n", b""])
def test_without_a_terminal_the_app_refuses_and_names_the_way(stdin: bytes, environ: dict[str, str]) -> None:
    """T23, T25: `echo hi | app`, `app | cat`: a clear line and no success, never waiting."""
    answer = run(stdin=stdin, **environ)
    assert answer.returncode == 2
    assert answer.stdout == b""
    assert answer.stderr.startswith(b"mnemoscope: This needs a terminal.")
    assert b"mnemoscope ask" in answer.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals on Windows")
@pytest.mark.parametrize(("stdin_is_terminal", "stdout_is_terminal"), [(True, False), (False, True)])
def test_half_a_terminal_is_none(stdin_is_terminal: bool, stdout_is_terminal: bool) -> None:
    """T23: input from a terminal with the output in a pipe, and the other way round."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tui"],
        stdin=terminal if stdin_is_terminal else subprocess.DEVNULL,
        stdout=terminal if stdout_is_terminal else subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _, error = process.communicate(timeout=60)
    os.close(main)
    os.close(terminal)
    assert process.returncode == 2
    assert b"This needs a terminal" in error


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals on Windows")
def test_a_terminal_that_can_do_nothing_is_none_either() -> None:
    """T25: TERM=dumb."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tui"],
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "dumb"},
    )
    _, error = process.communicate(timeout=60)
    os.close(main)
    os.close(terminal)
    assert process.returncode == 2
    assert b"mnemoscope ask" in error


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"LC_ALL": "C"}])
@pytest.mark.parametrize("arguments", [["ask", "hello"], ["sessions"], ["config"], ["sessions", "--json"]])
def test_every_other_command_works_alike_whatever_the_terminal(arguments: list[str], environ: dict[str, str]) -> None:
    """T25: NO_COLOR, TERM=dumb, a pipe, a plain locale: one rule for all."""
    answer = run(*arguments, **environ)
    assert answer.returncode == 0, answer.stderr
    assert b"\x1b" not in answer.stdout + answer.stderr


# --- Commands


def test_sessions_are_listed_and_deleted(home: Path) -> None:
    assert run("sessions").stdout == b"There are no sessions yet.\n"
    assert run("sessions", "--json").stdout == b""
    run("ask", "what is [/x] \x1b[2J?")
    (listed,) = [json.loads(line) for line in run("sessions", "--json").stdout.splitlines()]
    assert listed["title"] == "what is [/x] \x1b[2J?"
    assert listed["messages"] == 2
    line = run("sessions").stdout.decode()
    assert line.startswith(listed["id"])
    assert "what is [/x] ␛[2J?" in line
    assert run("sessions", "--delete", listed["id"][:5]).stdout.decode() == f"Deleted session {listed['id']}.\n"
    assert list((home / "data" / "mnemoscope" / "sessions").iterdir()) == []


def test_a_deleted_session_is_told_as_json_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "4f3a91bc.jsonl").write_text('{"mnemoscope_session":1,"id":"4f3a91bc"}\n')
    answer = run("sessions", "--json", "--delete", "4f3a", "--data-dir", str(tmp_path))
    assert json.loads(answer.stdout) == {"deleted": "4f3a91bc"}


def test_an_unknown_session_is_one_line_and_1() -> None:
    for arguments in (["sessions", "--delete", "nope"], ["ask", "--resume", "nope", "hi"]):
        answer = run(*arguments)
        assert answer.returncode == 1
        assert (
            answer.stderr.decode() == "mnemoscope: No session begins with 'nope'; `mnemoscope sessions` lists them.\n"
        )


def test_the_configuration_is_shown_without_the_key() -> None:
    answer = run("config", "--model", "m", OPENAI_API_KEY="sk-private")
    assert answer.returncode == 0
    assert b'model = "m"  # from --model' in answer.stdout
    assert b"sk-private" not in answer.stdout + answer.stderr


def test_a_broken_configuration_is_one_line_and_1_for_every_command(config: Path) -> None:
    config.write_text("model = \n")
    for arguments in (["ask", "hi"], ["sessions"], ["config"]):
        answer = run(*arguments)
        assert answer.returncode == 1
        assert len(answer.stderr.splitlines()) == 1
        assert f"{config}: Invalid value (at line 1".encode() in answer.stderr


def test_an_internal_error_is_one_line_with_the_place_of_a_log(home: Path) -> None:
    program = (
        "import sys, tui.list_sessions as m\n"
        "def broken(*a): raise ZeroDivisionError('oh [/no]')\n"
        "m.list_sessions = broken\n"
        "from tui.__main__ import main\n"
        "sys.exit(main(['sessions']))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    log = home / "data" / "mnemoscope" / "mnemoscope.log"
    assert answer.returncode == 1
    expected = f"mnemoscope: An internal error: ZeroDivisionError: oh [/no]. Its details are in {log}.\n"
    assert answer.stderr == expected
    assert "Traceback" in log.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_reader_that_goes_away_is_no_error_to_talk_about() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", "config"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 128 + signal.SIGPIPE


@pytest.mark.skipif(sys.platform == "win32", reason="HOME means nothing on Windows")
def test_with_home_unset_nothing_stray_is_made(tmp_path: Path) -> None:
    """P16: `env -u HOME`, and HOME as a text that was never expanded."""
    environ = {key: value for key, value in os.environ.items() if key != "HOME" and not key.startswith("XDG_")}
    environ["PYTHONPATH"] = str(ROOT)
    here = tmp_path / "here"
    here.mkdir()
    for home in ({}, {"HOME": "${HOME}"}, {"HOME": ""}):
        answer = subprocess.run(
            [sys.executable, "-m", "tui", "config"], cwd=here, env={**environ, **home}, capture_output=True
        )
        assert answer.returncode == 0, answer.stderr
        assert list(here.iterdir()) == []


def test_ctrl_c_before_anything_runs_is_no_traceback() -> None:
    program = (
        "import signal, sys\nfrom tui.__main__ import main\n"
        # Whoever is started in the background begins with the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Stdin:\n    def isatty(self): signal.raise_signal(signal.SIGINT)\n"
        "sys.stdin = Stdin()\nsys.exit(main(['ask']))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert answer.returncode == 128 + signal.SIGINT
    assert answer.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device here")
@pytest.mark.parametrize(
    "arguments", [["config"], ["ask", "hello"], ["ask", "--json", "hello"], ["sessions", "--json"]]
)
def test_output_that_finds_no_room_is_told_in_one_line(arguments: list[str]) -> None:
    """P12."""
    run("ask", "something to be listed")
    with open("/dev/full", "wb") as full:
        answer = subprocess.run([sys.executable, "-m", "tui", *arguments], stdout=full, stderr=subprocess.PIPE)
    assert answer.returncode == 1
    assert answer.stderr.decode() == (
        "mnemoscope: What was asked for cannot be written: No space left on device; free some space.\n"
    )
