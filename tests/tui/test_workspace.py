"""The program with its workdir elsewhere: it remembers there, and says what it cannot reach."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from agent_core.event import Noticed, ReplyEnded
from agent_core.permission import PermissionMode
from tests.loopback.docker_engine import DockerEngine
from tests.loopback.e2b_service import ID, E2BService
from tests.loopback.s3 import S3Server
from tests.loopback.sftp import PASSWORD, USER, SftpServerHere
from tests.tui import in_process
from tui.cli import Options
from tui.config import load_settings
from tui.list_sessions import list_sessions
from tui.runtime import Runtime

KINDS = ["sftp", "s3", "docker", "e2b"]


@contextmanager
def _sftp(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (home / "served").mkdir()
    (home / ".ssh").mkdir()
    server = SftpServerHere(home / "served")
    (home / ".ssh" / "known_hosts").write_text(server.known_hosts)
    yield f"sftp://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{server.port}/~/my notes"
    server.stop()


@contextmanager
def _s3(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = S3Server("bucket")
    for name, value in {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    yield "s3://bucket/my notes"
    server.stop()


@contextmanager
def _docker(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (home / "served").mkdir()
    engine = DockerEngine(home / "served")
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    yield "docker://web/~/my notes"
    engine.stop()


@contextmanager
def _e2b(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (home / "served").mkdir()
    service = E2BService(home / "served")
    for name, value in service.environ.items():
        monkeypatch.setenv(name, value)
    yield f"e2b://{ID}/~/my notes"
    service.stop()


@pytest.fixture(params=KINDS)
def workdir(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty folder that is elsewhere."""
    places = {"sftp": _sftp, "s3": _s3, "docker": _docker, "e2b": _e2b}
    with places[request.param](home, monkeypatch) as url:
        yield url


async def said(workdir: str, text: str, **how: bool) -> tuple[str, Runtime]:
    """What the program answers."""
    runtime = Runtime(load_settings({"workdir": workdir}), **how)
    runtime.agent.state.permission_context.mode = PermissionMode.ACCEPT_EDITS
    await runtime.start()
    answer = await runtime.agent.reply(text)
    await runtime.aclose()
    return answer.get_text_content() or "", runtime


def notices(runtime: Runtime) -> list[str]:
    return [event.text for event in runtime.agent.trace.of(Noticed)]


async def test_what_is_remembered_elsewhere_is_known_in_the_next_session(
    workdir: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await said(workdir, "remember that I live in Hangzhou")
    answer, runtime = await said(workdir, "where do I live?")
    assert "Hangzhou" in answer
    assert sum("compared before it is written" in text for text in notices(runtime)) == 1
    (history,) = (home / "data" / "mnemoscope" / "elsewhere").glob("[!.]*")
    assert (history / "journal.jsonl").exists()
    assert not (home / "data" / "mnemoscope" / "workdir").exists()
    everything = b"".join(path.read_bytes() for path in (home / "data").rglob("*") if path.is_file())
    list_sessions(Options(command="sessions"), load_settings())
    shown = capsys.readouterr().out
    assert shown
    for password in (PASSWORD, quote(PASSWORD, safe="")):
        assert password.encode() not in everything
        assert password not in shown
        assert password not in str(history)


async def test_the_last_session_of_a_workdir_elsewhere_is_gone_on_with(workdir: str) -> None:
    _, first = await said(workdir, "hello")
    _, again = await said(workdir, "hello again", go_on=True)
    assert again.session.id == first.session.id


def test_the_memory_command_works_there(workdir: str) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return in_process.run(*arguments, "--workdir", workdir)

    asked = run("ask", "remember that I live in Hangzhou", "--allow-writes")
    assert asked.returncode == 0
    listed = run("memory", "list", "--json")
    assert [json.loads(line)["path"] for line in listed.stdout.splitlines()] == ["user_profile.md"]
    changes = [json.loads(line) for line in run("memory", "history", "--json").stdout.splitlines()]
    assert {change["path"] for change in changes} == {"user_profile.md", "MEMORY.md"}
    shown = run("config")
    for answer in (asked, listed, shown):
        for password in (PASSWORD, quote(PASSWORD, safe="")):
            assert password.encode() not in answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("workdir", "reason"),
    [
        ("sftp://ana@127.0.0.1:1/notes", "sftp://ana@127.0.0.1:1 cannot be reached: "),
        ("sftp://ana:geheimnis@nowhere.invalid/notes", "sftp://ana@nowhere.invalid cannot be reached: "),
        ("s3://bucket/notes", "s3://bucket cannot be reached: "),
        ("docker://web/notes", "docker://web cannot be reached: "),
        ("e2b://i0/notes", "e2b://i0 cannot be reached: "),
    ],
)
async def test_what_cannot_be_reached_is_told_and_the_chat_goes_on(
    home: Path, monkeypatch: pytest.MonkeyPatch, workdir: str, reason: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setenv("E2B_API_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("E2B_API_KEY", "e2b_0123456789abcdef")
    answer, runtime = await said(workdir, "hello")
    assert answer
    assert runtime.agent.trace.of(ReplyEnded)[-1].finish == "completed"
    (told,) = [text for text in notices(runtime) if text.startswith(reason)]
    assert "The chat goes on" in told
    assert "\n" not in told
    assert "geheimnis" not in "".join(notices(runtime))


async def test_a_bucket_that_is_not_there_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _s3(home, monkeypatch):
        _, runtime = await said("s3://other/notes", "hello")
    assert any("s3://other cannot be reached: there is no such bucket" in text for text in notices(runtime))


async def test_an_unknown_host_key_is_refused_with_the_way_to_accept_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _sftp(home, monkeypatch) as workdir:
        (home / ".ssh" / "known_hosts").write_text("")
        _, runtime = await said(workdir, "hello")
    assert any("connect once with `ssh -p" in text for text in notices(runtime))
    assert not (home / "served" / "my notes").exists()


async def test_a_missing_package_is_named_with_the_way_to_install_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.remote_backends.find_spec", lambda name: None)
    for workdir in ("sftp://host/x", "s3://bucket/x", "memory://"):
        _, runtime = await said(workdir, "hello")
        assert any("pip install 'mnemoscope[remote]'" in text for text in notices(runtime))


async def test_the_memory_of_the_process_holds_as_long_as_that(home: Path) -> None:
    await said("memory://test", "remember that I live in Hangzhou")
    answer, _ = await said("memory://test", "where do I live?")
    assert "Hangzhou" in answer
    assert not (home / "data" / "mnemoscope" / "elsewhere").exists()
