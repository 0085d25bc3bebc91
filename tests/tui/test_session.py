"""Session files: written as it happens, read back whatever has happened to them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from agent_core import Agent, Trace
from agent_core.change import Added, StoredEntry
from agent_core.errors import StorageError
from agent_core.event import BlockDelta, Event, MemoryChanged, Noticed, ReplyStarted, ToolStarted, decode_event
from agent_core.message import UserMsg
from agent_core.model import ScriptedChatModel
from memory import InMemoryMemory
from tui.session_reader import read_session
from tui.session_store import OpenedSession, SessionStore

WORKDIR = "/some/workdir"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


def added(text: str, position: int = 0) -> MemoryChanged:
    return MemoryChanged(change=Added((StoredEntry(position, UserMsg("user", text), ()),)))


def path_of(session: OpenedSession) -> Path:
    assert session.file.path is not None
    return session.file.path


def texts(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Noticed)]


def written(store: SessionStore, *events: Event, workdir: str = WORKDIR) -> Path:
    """The file of a closed session that holds a first message and these events."""
    session = store.new(workdir)
    for event in (added("hello"), *events):
        session.file.append(event)
    session.file.close()
    return path_of(session)


# --- Writing


async def test_every_event_of_a_chat_is_on_disk_as_soon_as_it_has_happened(store: SessionStore) -> None:
    session = store.new(WORKDIR)
    agent = Agent("assistant", "", ScriptedChatModel(["It is sunny."], piece_size=4))
    agent.trace.subscribe(session.file.append)
    seen: list[Event] = []
    async for event in agent.reply_stream("weather?"):
        seen.append(event)
        last = decode_event(path_of(session).read_bytes().splitlines()[-1])
        assert last.seq >= event.seq
    on_disk = [decode_event(line) for line in path_of(session).read_bytes().splitlines()[1:]]
    assert any(isinstance(event, BlockDelta) for event in on_disk)
    assert [event for event in on_disk if event.reply_id == seen[0].reply_id] == seen


def test_the_first_line_says_what_session_it_is(store: SessionStore) -> None:
    path = written(store)
    header = msgspec.json.decode(path.read_bytes().splitlines()[0])
    assert header["mnemoscope_session"] == 1
    assert header["id"] == path.stem
    assert header["workdir"] == WORKDIR
    assert header["created"] > 0


def test_a_session_in_which_nothing_was_said_leaves_no_file(store: SessionStore, tmp_path: Path) -> None:
    session = store.new(WORKDIR)
    session.file.append(Noticed(text="the program has started"))
    session.file.close()
    assert list((tmp_path / "sessions").iterdir()) == []


def test_what_came_before_the_first_message_is_written_with_it(store: SessionStore) -> None:
    session = store.new(WORKDIR)
    session.file.append(Noticed(text="early"))
    session.file.append(ReplyStarted(agent="assistant"))
    assert texts(read_session(path_of(session)).events) == ["early"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_sessions_are_for_their_owner_only(store: SessionStore) -> None:
    path = written(store)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_lone_surrogate_does_not_break_the_record(store: SessionStore) -> None:
    """T20: what JSON cannot hold is replaced, and saved."""
    path = written(
        store,
        Noticed(text="hi \ud83d"),
        ToolStarted(call_id="c", tool="Write", arguments={"path": ["a\udc00"], "n": 1}),
    )
    notice, started = read_session(path).events[1:]
    assert isinstance(notice, Noticed)
    assert notice.text == "hi \ufffd"
    assert isinstance(started, ToolStarted)
    assert started.arguments == {"path": ["a\ufffd"], "n": 1}


# --- A disk that refuses


class FileSizeLimit:
    """Lets no file of this process grow beyond so many bytes, as a full disk does."""

    def __init__(self, size: int) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, self._before[1]))

    def lift(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_full_disk_is_told_the_chat_goes_on_and_what_was_missed_is_saved_later(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P12: a write that stops after n bytes costs nothing but time, and is told as long as it lasts."""
    monkeypatch.setattr("tui.session.RETRY_SECONDS", 0.0)
    session = store.new(WORKDIR)
    problems: list[str] = []
    session.file.on_problem = problems.append
    session.file.append(added("hello"))
    limit = FileSizeLimit(path_of(session).stat().st_size + 30)
    try:
        session.file.append(Noticed(text="one, cut in the middle of its line"))
        session.file.append(Noticed(text="two"))
        assert "not being saved" in session.file.problem
        before = path_of(session).read_bytes()
    finally:
        limit.lift()
    session.file.append(Noticed(text="three"))
    assert session.file.problem == ""
    assert [bool(problem) for problem in problems] == [True, False]
    assert path_of(session).read_bytes().startswith(before)
    content = read_session(path_of(session))
    assert content.damaged == 0
    assert texts(content.events) == ["one, cut in the middle of its line", "two", "three"]


def test_a_disk_that_refuses_is_not_asked_again_for_every_word(store: SessionStore, tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file stands where the folder should be")
    session = store.new(WORKDIR)
    problems: list[str] = []
    session.file.on_problem = problems.append
    for number in range(1000):
        session.file.append(added("hello", number))
    (tmp_path / "sessions").unlink()
    session.file.append(added("still waiting", 1000))
    assert not path_of(session).exists()
    session.file.close()
    assert len(read_session(path_of(session)).entries) == 1001
    assert problems == [""]


def test_where_no_folder_can_be_made_the_session_starts_in_memory_and_says_so(tmp_path: Path) -> None:
    """P13: a place that cannot be written to is told at the start, not met with silence."""
    (tmp_path / "file").write_text("")
    session = SessionStore(tmp_path / "file" / "sessions").new(WORKDIR)
    assert "not being saved" in session.file.problem
    session.file.append(added("hello"))
    session.file.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_home_that_may_not_be_written_to_is_told_at_the_start() -> None:
    """P13: home mode 0555."""
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o555)
        program = f"""
            import os
            from pathlib import Path
            from tui.session_store import SessionStore
            if os.getuid() == 0:  # Root may write anywhere.
                os.setuid(65534)
            print(SessionStore(Path({home!r}) / "sessions").new("/").file.problem)
        """
        answer = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert "not being saved (Permission denied" in answer.stdout, answer.stderr


def test_without_any_folder_nothing_is_written_and_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = SessionStore(None).new(WORKDIR)
    session.file.append(added("hello"))
    session.file.close()
    assert "--data-dir" in session.file.problem
    assert list(tmp_path.iterdir()) == []
    assert SessionStore(None).list() == []


# --- Damage


def test_nuls_in_the_middle_cost_only_themselves(store: SessionStore) -> None:
    """P01: valid lines, 400 lines of a NUL, valid lines: all valid ones are there, with one notice."""
    path = written(store, Noticed(text="before"))
    with path.open("ab") as file:
        file.write(b"\0\n" * 400)
    session = store.resume(path.stem, WORKDIR)
    session.file.append(Noticed(text="after"))
    session.file.close()
    again = store.resume(path.stem, WORKDIR)
    assert texts(again.events) == ["before", "after"]
    assert again.notices == ("1 damaged line of this session left out; the file keeps them.",)


def test_a_line_behind_a_run_of_nuls_is_read(store: SessionStore) -> None:
    """P01, as a power cut leaves it: the NULs have no newline of their own."""
    path = written(store, Noticed(text="before"), Noticed(text="after"))
    lines = path.read_bytes().splitlines()
    lines[-1] = b"\0" * 4096 + lines[-1]
    path.write_bytes(b"\n".join(lines) + b"\n")
    content = read_session(path)
    assert texts(content.events) == ["before", "after"]
    assert content.damaged == 1


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_last_line_costs_only_itself_and_is_never_written_on(store: SessionStore, cut: int) -> None:
    """P02: the last line is cut in half; the next event starts a line of its own."""
    path = written(store, Noticed(text="whole"), Noticed(text="torn, with a few words to be cut in"))
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    session = store.resume(path.stem, WORKDIR)
    is_lost = cut > 1
    assert session.notices == (("1 damaged line of this session left out; the file keeps them.",) if is_lost else ())
    session.file.append(Noticed(text="new"))
    session.file.close()
    assert path.read_bytes().startswith(data[:-cut])
    kept = ["whole"] if is_lost else ["whole", "torn, with a few words to be cut in"]
    assert texts(read_session(path).events) == [*kept, "new"]


def test_opening_a_torn_session_changes_nothing_as_long_as_nothing_happens(store: SessionStore) -> None:
    path = written(store, Noticed(text="torn"))
    path.write_bytes(path.read_bytes()[:-10])
    before = path.read_bytes()
    store.resume(path.stem, WORKDIR).file.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        b"garbage",
        b'{"type":"noticed"}',
        b'{"type":"noticed","text":7}',
        b'{"type":"noticed","text":"caf\xe9"}',
        b'{"type":"noticed","text":"half \\ud83d"}',
        b'[{"type":"noticed","text":"x"}]',
        b'{"type":"memory_changed","change":{"type":"added","entries":[{"position":0,"msg":{"id":1}}]}}',
        b'{"no":"type"}',
        b"[" * 100_000,
    ],
)
def test_a_bad_line_in_the_middle_costs_only_itself(store: SessionStore, line: bytes) -> None:
    path = written(store, Noticed(text="before"))
    with path.open("ab") as file:
        file.write(line + b"\n")
    session = store.resume(path.stem, WORKDIR)
    session.file.append(Noticed(text="after"))
    session.file.close()
    content = read_session(path)
    assert texts(content.events) == ["before", "after"]
    assert (content.damaged, content.unknown) == (1, 0)
    assert line in path.read_bytes()


def test_an_event_of_a_newer_version_is_left_out_and_counted_apart(store: SessionStore) -> None:
    path = written(store)
    with path.open("ab") as file:
        file.write(b'{"type":"teleported","to":"moon"}\n{"type":"noticed","text":"x","field_of_the_future":1}\n')
    content = read_session(path)
    assert texts(content.events) == ["x"]
    assert (content.damaged, content.unknown) == (0, 1)
    assert content.notices == ["1 event of this session left out: a newer version wrote them."]


def test_windows_line_ends_and_blank_lines_are_no_damage(store: SessionStore) -> None:
    """F26: CRLF, empty CRLF lines between records, mixed with LF."""
    path = written(store, Noticed(text="one"), Noticed(text="two"))
    header, *lines = path.read_bytes().splitlines()
    path.write_bytes(header + b"\r\n\r\n  \r\n" + lines[0] + b"\n\r\n" + b"\r\n".join(lines[1:]) + b"\r\n\r\n\n")
    content = read_session(path)
    assert texts(content.events) == ["one", "two"]
    assert content.damaged == 0


def test_where_every_line_is_bad_the_bytes_are_kept_aside_and_work_goes_on(store: SessionStore) -> None:
    """P05: a file of which nothing can be read stops neither resuming, nor a new session, nor deleting."""
    path = written(store)
    path.write_bytes(b"\xff\xfe bad\n" * 50)
    session = store.resume(path.stem, WORKDIR)
    aside = path.with_suffix(".damaged")
    assert aside.read_bytes() == b"\xff\xfe bad\n" * 50
    assert str(aside) in session.notices[0]
    session.file.append(added("goes on"))
    session.file.close()
    assert [info.title for info in store.list()] == ["goes on"]
    other = written(store)
    other.write_bytes(b"bad\n")
    assert store.delete(other.stem) == other.stem
    assert not other.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_what_cannot_be_put_aside_is_left_and_work_goes_on() -> None:
    """P05: every line is bad, in a folder of mode 0555."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "abc.jsonl"
        file.write_bytes(b"bad\n" * 50)
        file.chmod(0o666)
        Path(folder).chmod(0o555)
        program = f"""
            import os
            from pathlib import Path
            from tui.session_store import SessionStore
            if os.getuid() == 0:  # Root may write anywhere.
                os.setuid(65534)
            session = SessionStore(Path({folder!r})).resume("abc", "/")
            print(*session.notices, session.file.problem)
            session.file.close()
        """
        answer = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
        assert file.read_bytes() == b"bad\n" * 50
    assert "cannot be put aside (Permission denied): it is left as it is" in answer.stdout, answer.stderr
    assert "not being saved" in answer.stdout


def test_what_was_put_aside_before_is_not_lost(store: SessionStore) -> None:
    """P05: the same session, every line bad, three times."""
    for number in range(3):
        path = written(store)
        path = path.rename(path.with_name("abc.jsonl"))
        path.write_bytes(f"bad {number}\n".encode())
        store.resume("abc", WORKDIR).file.close()
    kept = {each.name: each.read_bytes() for each in path.parent.iterdir() if "damaged" in each.name}
    assert kept == {"abc.damaged": b"bad 0\n", "abc-2.damaged": b"bad 1\n", "abc-3.damaged": b"bad 2\n"}


def test_a_lost_header_is_written_anew_and_costs_nothing_else(store: SessionStore) -> None:
    path = written(store, Noticed(text="kept"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"x" + b"".join(lines)[1:])
    session = store.resume(path.stem, "/elsewhere")
    assert texts(session.events) == ["kept"]
    session.file.append(Noticed(text="new"))
    session.file.close()
    content = read_session(path)
    assert content.header is not None
    assert (content.header.id, content.header.workdir) == (path.stem, "/elsewhere")
    assert texts(content.events) == ["kept", "new"]


async def test_memory_changes_fit_even_where_one_was_lost(store: SessionStore) -> None:
    session = store.new(WORKDIR)
    agent = Agent("assistant", "", ScriptedChatModel([]))
    agent.trace.subscribe(session.file.append)
    messages = [UserMsg("user", f"message {number}") for number in range(5)]
    for message in messages:
        await agent.observe(message)
    await agent.memory.update_messages_mark("late", msg_ids=[messages[4].id])
    assert isinstance(agent.memory, InMemoryMemory)
    await agent.memory.delete([messages[3].id])
    session.file.close()
    lines = path_of(session).read_bytes().splitlines(keepends=True)
    lost = next(number for number, line in enumerate(lines) if b"message 1" in line)
    path_of(session).write_bytes(b"".join([*lines[:lost], b"damaged\n", *lines[lost + 1 :]]))
    content = read_session(path_of(session))
    assert [(entry.msg.content, entry.marks) for entry in content.entries] == [
        ("message 0", ()),
        ("message 2", ()),
        ("message 4", ("late",)),
    ]
    trace = Trace()
    trace.restore(content.events)
    restored = InMemoryMemory()
    restored.content = [(entry.msg, list(entry.marks)) for entry in content.entries]
    before = len(trace)
    await Agent("assistant", "", ScriptedChatModel([]), memory=restored, trace=trace).start()
    assert len(trace) == before


def test_a_session_of_a_newer_format_is_refused_with_the_way_out(store: SessionStore) -> None:
    path = written(store)
    path.write_bytes(path.read_bytes().replace(b'"mnemoscope_session":1', b'"mnemoscope_session":2', 1))
    before = path.read_bytes()
    with pytest.raises(StorageError, match="written by a newer version, in format 2; update mnemoscope"):
        store.resume(path.stem, WORKDIR)
    assert path.read_bytes() == before
    assert [info.id for info in store.list()] == [path.stem]


# --- Finding


def test_the_list_has_the_last_used_first_with_its_first_user_line_and_its_size(store: SessionStore) -> None:
    older = written(store, added("second", 1))
    newer = store.new("/another")
    newer.file.append(added("\n\n  What is [/x] \x1b[2J about?\nand more"))
    newer.file.close()
    os.utime(older, (1_000, 1_000))
    first, second = store.list()
    assert (first.id, first.title, first.messages) == (newer.file.id, "What is [/x] \x1b[2J about?", 1)
    assert (second.title, second.messages, second.workdir) == ("hello", 2, WORKDIR)
    assert second.modified == 1_000


def test_continuing_takes_the_newest_session_of_this_workdir(store: SessionStore) -> None:
    mine, other = written(store), written(store, workdir="/another")
    oldest = written(store)
    for age, path in enumerate([other, mine, oldest]):
        os.utime(path, (10_000 - age, 10_000 - age))
    assert store.resume_newest(WORKDIR).file.id == mine.stem


def test_a_workdir_whose_name_is_not_utf_8_is_gone_on_in(store: SessionStore) -> None:
    """T20: such names come from disks of another encoding; each is told from the next."""
    latin, other = written(store, workdir="/caf\udce9"), written(store, workdir="/caf\udce8")
    assert store.resume_newest("/caf\udce9").file.id == latin.stem
    assert {info.workdir for info in store.list()} == {r"/caf\udce9", r"/caf\udce8"}
    assert other.exists()


def test_continuing_where_there_is_nothing_begins_a_session_and_says_so(store: SessionStore) -> None:
    session = store.resume_newest(WORKDIR)
    assert session.events == ()
    assert "no earlier session" in session.notices[0]


@pytest.mark.parametrize("has_another", [True, False])
def test_continuing_tells_of_a_newer_session_whose_header_is_lost(store: SessionStore, has_another: bool) -> None:
    """P01 and P02: the damage is at the beginning."""
    if has_another:
        os.utime(written(store), (1, 1))
    path = written(store, Noticed(text="here"))
    path.write_bytes(b"\0" * 50 + b"\n" + path.read_bytes().partition(b"\n")[2])
    session = store.resume_newest(WORKDIR)
    assert session.file.id != path.stem
    assert any(f"--resume {path.stem}" in notice for notice in session.notices)
    assert texts(store.resume(path.stem, WORKDIR).events) == ["here"]


def test_a_byte_order_mark_is_no_damage(store: SessionStore) -> None:
    """F01 and F26: saved again by an editor that puts one before the first line."""
    path = written(store, Noticed(text="here"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    session = store.resume_newest(WORKDIR)
    assert session.file.id == path.stem
    assert texts(session.events) == ["here"]
    assert session.notices == ()


def test_a_unique_beginning_of_the_id_is_enough(store: SessionStore) -> None:
    path = written(store)
    for name in ("aaaa0001", "aaaa0002"):
        path.with_name(f"{name}.jsonl").write_bytes(path.read_bytes())
    with pytest.raises(StorageError, match="Several sessions begin with 'aaaa'"):
        store.resume("aaaa", WORKDIR)
    session = store.resume("aaaa0002", WORKDIR)
    assert path_of(session).stem == "aaaa0002"
    session.file.close()
    path.with_name("aaaa0001.jsonl").unlink()
    assert path_of(store.resume("aaaa", WORKDIR)).stem == "aaaa0002"


@pytest.mark.parametrize("wish", ["", "zz", "../../etc/passwd", "*", "00000000.jsonl"])
def test_an_id_that_is_none_is_told_with_the_way_to_find_one(store: SessionStore, wish: str) -> None:
    written(store)
    with pytest.raises(StorageError, match="mnemoscope sessions"):
        store.resume(wish, WORKDIR)


async def test_a_session_opens_by_its_id_after_compression(store: SessionStore) -> None:
    """C18: listed, and found."""
    session = store.new(WORKDIR)
    summary = {"task_overview": "talk", "current_state": "", "discoveries": "", "next_steps": "", "context": ""}
    model = ScriptedChatModel(["a", "b", "c", "d", "e", "f"], structured=[summary])
    agent = Agent("assistant", "", model)
    agent.trace.subscribe(session.file.append)
    for number in range(6):
        await agent.reply(f"question {number}")
    assert await agent.compress_context()
    session.file.close()
    (listed,) = store.list()
    again = store.resume(listed.id, WORKDIR)
    assert again.summary == agent.memory._compressed_summary
    assert list(again.entries) == await agent.memory.entries()


# --- Two programs at once, deleting, links


def test_a_session_that_is_open_elsewhere_is_refused(store: SessionStore) -> None:
    session = store.new(WORKDIR)
    session.file.append(added("hello"))
    with pytest.raises(StorageError, match="open in another window"):
        store.resume(session.file.id, WORKDIR)
    with pytest.raises(StorageError, match="open in another window"):
        store.delete(session.file.id)
    session.file.close()
    store.resume(session.file.id, WORKDIR).file.close()


def test_a_session_that_is_open_in_another_process_is_refused_until_that_ends(store: SessionStore) -> None:
    path = written(store)
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from tui.session_store import SessionStore
        session = SessionStore(Path({str(path.parent)!r})).resume({path.stem!r}, "/")
        print("open", flush=True)
        input()
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path.cwd()
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(StorageError, match="open in another window"):
            store.resume(path.stem, WORKDIR)
        process.kill()
        process.communicate()
    store.resume(path.stem, WORKDIR).file.close()


def test_deleting_touches_only_that_session_file(store: SessionStore, tmp_path: Path) -> None:
    """L11: what lies beside sessions, and what links lead to, stays."""
    path = written(store)
    beside = path.parent / "Memory"
    beside.mkdir()
    (beside / "MEMORY.md").write_text("- [Tea](tea.md) — likes oolong")
    link = path.with_name("00000000.jsonl")
    outside = tmp_path / "precious"
    outside.write_text("mine")
    link.symlink_to(outside)
    folder_link = path.with_name("11111111.jsonl")
    folder_link.symlink_to(beside)
    assert [one.id for one in store.list()] == [path.stem]
    for name in ("00000000", "11111111", "Memory"):
        with pytest.raises(StorageError):
            store.delete(name)
    store.delete(path.stem)
    assert outside.read_text() == "mine"
    assert (beside / "MEMORY.md").exists()
    assert not path.exists()
