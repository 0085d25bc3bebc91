"""`mnemoscope memory delete --for-good`: nothing of a memory is left in the history, in sessions or in prompts."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from memory.agentic.blobs import LARGEST
from tests.tui.memory_command import Shell
from tui import session_erasure
from tui.__main__ import main
from tui.session import open_locked
from tui.session_store import SessionStore
from tui.unsent import unsent_path

FACT = "I live in Hangzhou"
WORD = b"Hangzhou"


def ask(workdir: Path, question: str, *words: str) -> None:
    main(["ask", "--allow-writes", question, *words, "--workdir", str(workdir)])


@pytest.fixture
def sessions(shell: Shell, home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Three sessions: one that saved the fact, one that recalled it, one that knows nothing of it."""
    ask(shell.workdir, f"remember that {FACT}")
    ask(shell.workdir, "where do I live?")
    ask(home / "elsewhere", "what is a lake?")
    (home / "data/mnemoscope/history.jsonl").write_text(
        "".join(f"{json.dumps(text)}\n" for text in (f"remember that {FACT}", "where do I live?", "what else?"))
    )
    capsys.readouterr()
    return home / "data/mnemoscope/sessions"


def holding(folder: Path, word: bytes = WORD) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and word in path.read_bytes()]


def test_it_is_gone_everywhere_and_what_was_done_is_said(shell: Shell, sessions: Path, home: Path) -> None:
    before = {path.stem: path.read_bytes() for path in sessions.iterdir()}
    times = {path.stem: path.stat().st_mtime_ns for path in sessions.iterdir()}
    assert len(holding(sessions)) == 2
    answer = shell("delete", "user_profile", "--for-good", "--json")
    assert (answer.code, answer.err) == (0, "")
    (value,) = answer.values
    assert value["path"] == "user_profile.md"
    assert value["entries"] >= 1
    assert value["contents"] >= 1
    assert len(value["sessions"]) == 2
    assert value["passages"] > 5
    assert value["prompts"] == 1
    assert holding(home) == []
    assert holding(shell.workdir) == []
    assert shell("history", "user_profile").code == 1
    untouched = [stem for stem in before if stem not in value["sessions"]]
    assert {path.stem: path.read_bytes() for path in sessions.iterdir() if path.stem in untouched} == {
        stem: before[stem] for stem in untouched
    }
    assert {path.stem: path.stat().st_mtime_ns for path in sessions.iterdir()} == times
    assert [path.stat().st_mode & 0o777 for path in sessions.iterdir()] == [0o600] * len(before)


def test_what_was_typed_and_not_sent_is_forgotten_where_it_tells_of_it(shell: Shell, sessions: Path) -> None:
    telling, other = (unsent_path(path) for path in list(sessions.iterdir())[:2])
    telling.write_text(f"[]\nFor {FACT}, where do I shop?")
    other.write_text("[]\nWhat is a river?")
    assert shell("delete", "user_profile", "--for-good", "--json").values[0]["prompts"] == 2
    assert (telling.exists(), other.exists()) == (False, True)


def test_the_sessions_can_be_gone_on_with(shell: Shell, sessions: Path) -> None:
    """Ids, marks, order and number of the messages are as they were, and no line is damaged."""
    store = SessionStore(sessions)

    def shape() -> dict[str, object]:
        shapes: dict[str, object] = {}
        for info in store.list():
            opened = store.resume(info.id, shell.workdir)
            opened.file.close()
            assert opened.notices == ()
            shapes[info.id] = [(entry.msg.id, entry.msg.role, entry.marks) for entry in opened.entries]
        return shapes

    before = shape()
    assert shell("delete", "user_profile", "--for-good").code == 0
    assert shape() == before
    ask(shell.workdir, "what did I say?", "--resume", next(info.id for info in store.list()))


def test_a_session_that_is_open_is_refused_and_nothing_is_deleted(shell: Shell, sessions: Path) -> None:
    telling = holding(sessions)[0]
    before = shell.tree()
    handle = open_locked(telling)
    try:
        answer = shell("delete", "user_profile", "--for-good")
    finally:
        os.close(handle)
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert f"Session {telling.stem} is open in another window" in answer.err
    assert shell.tree() == before
    assert len(holding(sessions)) == 2
    assert shell("delete", "user_profile", "--for-good").code == 0


def test_an_open_session_that_does_not_tell_of_it_is_no_hindrance(shell: Shell, sessions: Path) -> None:
    telling = holding(sessions)
    other = next(path for path in sessions.iterdir() if path not in telling)
    handle = open_locked(other)
    try:
        assert shell("delete", "user_profile", "--for-good").code == 0
    finally:
        os.close(handle)


def test_a_session_whose_file_is_replaced_while_it_is_opened_is_not_taken_for_it(tmp_path: Path) -> None:
    from agent_core.errors import StorageError

    path = tmp_path / "0123abcd.jsonl"
    path.write_text("{}\n")
    handle = os.open(path, os.O_RDWR)
    (tmp_path / "new").write_text("{}\n")
    os.replace(tmp_path / "new", path)
    os.close(handle)
    os.close(open_locked(path))
    first = open_locked(path)
    with pytest.raises(StorageError, match="open in another window"):
        open_locked(path)
    os.close(first)


def test_a_memory_that_was_deleted_before_is_forgotten_too(shell: Shell, sessions: Path, home: Path) -> None:
    assert shell("delete", "user_profile").code == 0
    assert holding(sessions)
    assert shell("delete", "user_profile", "--for-good").code == 0
    assert holding(home) == []
    assert shell("delete", "user_profile", "--for-good").code == 1


def test_damaged_lines_are_searched_too(shell: Shell, sessions: Path) -> None:
    """P01, P02: what cannot be read as an event may still tell of it."""
    path = holding(sessions)[0]
    with path.open("ab") as file:
        file.write(b'\0\0\0\n{"type": "torn", "text": "so, ' + FACT.encode() + b" and th")
    assert shell("delete", "user_profile", "--for-good").code == 0
    assert holding(sessions) == []
    assert b"\0\0\0\n" in path.read_bytes()


def test_expired_or_foreign_files_beside_the_sessions_are_not_touched(
    shell: Shell, sessions: Path, tmp_path: Path
) -> None:
    """L11: links are not followed, and what is no session is left alone."""
    note = sessions / "note.txt"
    note.write_text(FACT)
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text(json.dumps({"type": "noticed", "text": FACT}) + "\n")
    (sessions / "0123abcd.jsonl").symlink_to(elsewhere)
    assert shell("delete", "user_profile", "--for-good").code == 0
    assert note.read_text() == FACT
    assert FACT in elsewhere.read_text()


def test_on_a_full_disk_the_memory_goes_first_and_the_sessions_when_there_is_room(
    shell: Shell, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P12: nobody is kept from deleting, and nothing that still tells of it is passed over in silence."""
    room = [False]
    rewrite = session_erasure.rewrite

    def rewrite_where_there_is_room(path: Path, data: bytes) -> None:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rewrite(path, data)

    monkeypatch.setattr(session_erasure, "rewrite", rewrite_where_there_is_room)
    answer = shell("delete", "user_profile", "--for-good")
    assert (answer.code, answer.out) == (1, "")
    assert "user_profile.md is deleted." in answer.err
    assert "No space left on device. Make more room and delete it for good once more" in answer.err
    assert "user_profile.md" not in shell.tree()
    assert len(holding(sessions)) == 2
    room[0] = True
    assert shell("delete", "user_profile", "--for-good").code == 0
    assert holding(sessions) == []
    assert holding(shell.workdir) == []


def test_what_cannot_be_deleted_with_a_way_back_can_be_without(shell: Shell) -> None:
    shell.put("a b.md", b"x" * (LARGEST + 1))
    answer = shell("delete", "a b")
    assert answer.code == 1
    assert answer.err.rstrip().endswith("can be deleted: mnemoscope memory delete --for-good 'a b.md'")
    assert shell("delete", "--for-good", "a b.md").code == 0
    assert shell.tree() == {}
