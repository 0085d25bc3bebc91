"""`mnemoscope ask`, against the offline model and the scripted server; in real processes where that matters."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_core.event import ReplyEnded, ReplyStarted, decode_event
from agent_core.message import ToolResultBlock
from tests.fake_server import CLOSE, FakeServer, Gate, http_error, reply, serving_in_thread, text, tool_call
from tests.tui import in_process
from tui.session_reader import SessionContent, read_session

pytestmark = pytest.mark.usefixtures("home")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving_in_thread(FakeServer()) as server:
        yield server


def words(*arguments: str, server: FakeServer | None = None) -> list[str]:
    model = ["--model", "m", "--base-url", server.base_url] if server else []
    return ["ask", *model, *arguments]


def command(*arguments: str, server: FakeServer | None = None) -> list[str]:
    return [sys.executable, "-m", "tui", *words(*arguments, server=server)]


def run(*arguments: str, server: FakeServer | None = None, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return in_process.run(*words(*arguments, server=server), stdin=stdin)


def sessions(home: Path) -> list[SessionContent]:
    folder = home / "data" / "mnemoscope" / "sessions"
    return [read_session(path) for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)]


# --- The question


def test_the_question_may_come_from_the_command_line_or_from_standard_input(server: FakeServer) -> None:
    """T23: `echo hi | mnemoscope ask` is one answer."""
    server.brain = lambda request: reply(text(f"You said: {request.messages[-1]['content']}"))
    assert run("why", "so?", server=server).stdout == b"You said: why so?\n"
    piped = run(server=server, stdin="日本語 🙂\r\nline two\n".encode())
    assert piped.stdout.decode() == "You said: 日本語 🙂\nline two\n"
    assert run("-", server=server, stdin=b"from a pipe").stdout == b"You said: from a pipe\n"


def test_what_is_piped_in_stands_behind_the_words(server: FakeServer) -> None:
    """T23: `git diff | mnemoscope ask "review this"`."""
    server.brain = lambda request: reply(text(f"You said: {request.messages[-1]['content']}"))
    for question in (["review", "this"], ["review this", "-"]):
        answer = run(*question, server=server, stdin=b"\n  a = 1\n- a = 2 \xe4\xbd\xa0\n")
        assert answer.stdout.decode() == "You said: review this\n\n  a = 1\n- a = 2 你\n"
        assert answer.stderr == b""
    for nothing in (b"", b" \r\n\n"):
        assert run("why?", server=server, stdin=nothing).stdout == b"You said: why?\n"


def test_a_pipe_that_is_open_and_silent_is_not_waited_for(server: FakeServer) -> None:
    """T23: what cron, CI or an editor hands down unused."""
    server.brain = lambda request: reply(text(f"You said: {request.messages[-1]['content']}"))
    reading, writing = os.pipe()
    try:
        answer = subprocess.run(
            command("why?", server=server), stdin=reading, capture_output=True, cwd=ROOT, timeout=60
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert answer.returncode == 0
    assert answer.stdout == b"You said: why?\n"
    assert b"Nothing came on standard input" in answer.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals on Windows")
def test_words_are_asked_alone_where_a_terminal_or_nothing_is_standard_input(server: FakeServer) -> None:
    """T23."""
    server.brain = lambda request: reply(text(f"You said: {request.messages[-1]['content']}"))
    main, terminal = pty.openpty()
    closed = ["sh", "-c", 'exec "$@" <&-', "sh", *command("why?", server=server)]
    for program, stdin in ((command("why?", server=server), terminal), (closed, subprocess.DEVNULL)):
        answer = subprocess.run(program, stdin=stdin, capture_output=True, cwd=ROOT, timeout=60)
        assert (answer.stdout, answer.stderr) == (b"You said: why?\n", b"")
    os.close(main)
    os.close(terminal)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh on Windows")
@pytest.mark.parametrize("arguments", [["ask", "why?"], ["config"], ["sessions"], []])
def test_a_closed_output_is_told_and_not_taken_for_success(arguments: list[str]) -> None:
    """T20: `mnemoscope ask why? >&-`."""
    program = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "tui", *arguments]
    done = subprocess.run(program, stderr=subprocess.PIPE, cwd=ROOT, timeout=60)
    assert done.returncode == 1
    assert done.stderr == b"mnemoscope: Standard output is closed: what was asked for would go nowhere.\n"


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}]
)
def test_words_are_utf_8_in_any_locale(
    server: FakeServer, locale: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """T20: what a locale makes of the command line's bytes is not what the model reads."""
    for name, value in {"LC_ALL": "C", **locale}.items():
        monkeypatch.setenv(name, value)
    server.play(reply(text("ok")))
    question = ["记住：我住在杭州", "🙂", b"caf\xe9"]
    program = [*command(server=server), *question]
    assert subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, cwd=ROOT).returncode == 0
    assert server.requests[-1].messages[-1]["content"] == "记住：我住在杭州 🙂 caf\ufffd"


def test_json_is_utf_8_in_any_locale(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    server.play(reply(text("你住在杭州 🙂")))
    answer = run("--json", "where?", server=server)
    assert "你住在杭州 🙂" in answer.stdout.decode()


def test_bytes_that_are_not_utf_8_are_asked_all_the_same(server: FakeServer) -> None:
    server.brain = lambda request: reply(text(f"You said: {request.messages[-1]['content']}"))
    assert run(server=server, stdin=b"caf\xe9").stdout.decode() == "You said: caf\ufffd\n"


@pytest.mark.parametrize("stdin", [b"", b"  \r\n\r\n"])
def test_no_question_is_wrong_usage(stdin: bytes) -> None:
    answer = run(stdin=stdin)
    assert answer.returncode == 2
    assert b"There is no question" in answer.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals on Windows")
def test_a_terminal_is_never_waited_for() -> None:
    main, terminal = pty.openpty()
    answer = subprocess.run(command(), stdin=terminal, capture_output=True, cwd=ROOT, timeout=60)
    os.close(main)
    os.close(terminal)
    assert answer.returncode == 2


# --- The answer


def test_without_a_model_it_answers_offline() -> None:
    answer = run("hello")
    assert answer.returncode == 0
    assert b"model" in answer.stdout
    assert answer.stderr == b""


def test_the_answer_is_written_as_it_comes(server: FakeServer) -> None:
    gate = Gate()
    server.play(reply(text("The first words"), gate, text(" and the last.")))
    with subprocess.Popen(command("go on", server=server), stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        first = process.stdout.read(len("The first words"))
        gate.open()
        assert first + process.stdout.read() == b"The first words and the last.\n"
    assert process.returncode == 0


def test_nothing_in_an_answer_acts_on_the_terminal(server: FakeServer) -> None:
    """T06: titles, clipboards, links, clearing, queries and 8-bit controls are seen and not done."""
    evil = "a\x1b]52;c;aGk=\x07b\x1b]0;hi\x07\x1b]8;;http://e\x1b\\x\x1b[2J\x1b[6n\x1bc\x9b1m\x1b]é 中 🙂\tend"
    server.play(reply(text(evil)))
    shown = run("hi", server=server).stdout.decode()
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)
    assert not any(0x7F <= ord(c) < 0xA0 for c in shown)
    assert "␛[2J" in shown
    assert "é 中 🙂\tend" in shown


def test_the_text_around_tool_calls_stands_on_lines_of_its_own(server: FakeServer, home: Path) -> None:
    (home / "note.md").write_text("oolong")
    call = tool_call("Read", {"file_path": str(home / "note.md")})
    server.play(reply(text("Let me look."), call), reply(text("It says oolong.\n")))
    answer = run("what?", "--workdir", str(home), server=server)
    assert answer.stdout == b"Let me look.\nIt says oolong.\n"
    assert answer.stderr == b""


def test_json_is_every_event_as_the_session_has_it(server: FakeServer, home: Path) -> None:
    server.play(reply(text("Hello [/x] \x1b[2J \x9b2J \u202e.")))
    answer = run("--json", "hi", server=server)
    events = [decode_event(line) for line in answer.stdout.splitlines()]
    assert isinstance(events[-1], ReplyEnded)
    assert any(isinstance(event, ReplyStarted) for event in events)
    assert not any(character in answer.stdout.decode() for character in "\x1b\x9b\u202e")
    (session,) = sessions(home)
    assert session.events[: len(events)] == events
    assert all(isinstance(json.loads(line), dict) for line in answer.stdout.splitlines())


# --- Writing


def test_writes_are_refused_unless_allowed(home: Path) -> None:
    workdir = home / "data" / "mnemoscope" / "workdir"
    refused = run("remember that I live in Hangzhou")
    assert not (workdir / "Memory").exists()
    assert b"mnemoscope: Write was refused; --allow-writes" in refused.stderr
    allowed = run("--allow-writes", "remember that I live in Hangzhou")
    assert allowed.returncode == 0
    assert allowed.stderr == b""
    assert "Hangzhou" in "".join(path.read_text() for path in (workdir / "Memory").iterdir())
    recalled = run("where do I live?")
    assert "Hangzhou" in recalled.stdout.decode()


def test_what_mem0_has_kept_of_the_exchange_is_told_and_the_answer_does_not_deny_it(home: Path) -> None:
    (first, second), again = (
        (run("--mem0", "static_control", f"Please remember that I live in {place}") for place in ("Oslo", "Rome")),
        run("--mem0", "both", "--json", "remember that I play the cello"),
    )
    assert b"did not save" not in first.stdout
    assert b"mnemoscope: Kept as a fact: I live in Oslo" in first.stderr
    assert b"mnemoscope: No longer true: I live in Oslo" in second.stderr
    events = [json.loads(line)["type"] for line in again.stdout.splitlines()]
    assert "facts_written" in events[events.index("reply_ended") :]


def test_even_allowed_writes_stay_in_the_workdir(server: FakeServer, home: Path) -> None:
    outside = home / "outside.md"
    server.play(reply(tool_call("Write", {"file_path": str(outside), "content": "x"})), reply(text("Well.")))
    answer = run("--allow-writes", "write", server=server)
    assert answer.stderr == b"mnemoscope: Write was refused.\n"
    assert not outside.exists()


def test_a_refused_reading_is_told_on_a_line_of_its_own_and_not_as_a_matter_of_writing(
    server: FakeServer, home: Path
) -> None:
    (home / "outside.md").write_text("x")
    call = tool_call("Read", {"file_path": str(home / "outside.md")})
    server.play(reply(text("I look."), call), reply(text("Well.")))
    words = command("read", server=server)
    both = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT)
    told = b"mnemoscope: Read was refused; it may read in the workdir only.\n"
    assert both.stdout == b"I look.\n" + told + b"Well.\n"


# --- Failing


def test_a_reply_that_fails_is_1_with_one_line_that_says_what_to_do(server: FakeServer, home: Path) -> None:
    server.play(http_error(401, "Incorrect API key"))
    answer = run("hi", server=server)
    assert answer.returncode == 1
    assert answer.stdout == b""
    (line,) = answer.stderr.decode().splitlines()
    assert line.startswith("mnemoscope: ")
    assert "API key" in line
    (session,) = sessions(home)
    assert [entry.msg.get_text_content() for entry in session.entries] == ["hi"]


def test_an_answer_that_breaks_off_is_1_and_what_came_is_kept(server: FakeServer, home: Path) -> None:
    server.play(reply(text("The first words"), CLOSE))
    answer = run("hi", server=server)
    assert answer.returncode == 1
    assert answer.stdout == b"The first words\n"
    assert b"broke off" in answer.stderr
    (session,) = sessions(home)
    assert [entry.msg.get_text_content() for entry in session.entries] == ["hi", "The first words"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_at_once_with_its_number_and_the_session_says_interrupted(
    server: FakeServer, home: Path, number: signal.Signals
) -> None:
    gate = Gate()
    server.play(reply(text("The first words"), gate))
    with subprocess.Popen(
        command("hi", server=server), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        process.stdout.read(len("The first words"))
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    gate.open()
    assert process.returncode == 128 + number
    assert b"Traceback" not in error
    (session,) = sessions(home)
    ended = [event for event in session.events if isinstance(event, ReplyEnded)]
    assert [event.finish for event in ended] == ["interrupted"]
    assert session.entries[-1].msg.get_text_content() == "The first words"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_reader_that_goes_away_stops_it_quietly(server: FakeServer) -> None:
    gate = Gate()
    server.play(reply(text("The first words"), gate, *(text(f" and word {n}") for n in range(50)), gate))
    with subprocess.Popen(
        command("hi", server=server), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(len("The first words"))
        process.stdout.close()
        gate.open()
        error = process.stderr.read()
    assert process.returncode == 128 + signal.SIGPIPE
    assert error == b""


# --- Sessions


def test_each_question_is_a_session_unless_one_is_gone_on_with(server: FakeServer, home: Path) -> None:
    server.brain = lambda request: reply(text(f"{len(request.messages)} messages"))
    run("one", server=server)
    assert run("-c", "two", server=server).stdout == b"4 messages\n"
    run("another", server=server)
    assert len(sessions(home)) == 2
    by_id = sessions(home)[0].header
    assert by_id is not None
    assert run("--resume", by_id.id, "three", server=server).stdout == b"6 messages\n"


def test_a_program_that_was_killed_is_gone_on_with_and_a_strict_server_takes_the_history(
    server: FakeServer, home: Path
) -> None:
    """C02, through the command: kill -9 while the second answer streams, after a call; go on."""
    (home / "note.md").write_text("oolong")
    here, gate = ("--workdir", str(home)), Gate()
    server.play(reply(tool_call("Read", {"file_path": str(home / "note.md")})), reply(text("It says"), gate))
    with subprocess.Popen(command("what?", *here, server=server), stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.read(len("It says"))
        process.kill()
    gate.open()
    server.play(reply(text("It goes on.")))
    assert run("-c", "and?", *here, server=server).stdout == b"It goes on.\n"
    (session,) = sessions(home)
    results = [block for entry in session.entries for block in entry.msg.get_content_blocks(ToolResultBlock)]
    assert [result.state for result in results] == ["success"]
    texts = [entry.msg.get_text_content() for entry in session.entries]
    assert texts == ["what?", None, None, "It says", "and?", "It goes on."]
    finishes = [event.finish for event in session.events if isinstance(event, ReplyEnded)]
    assert finishes == ["interrupted", "completed"]
