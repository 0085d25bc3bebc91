"""What is typed and not sent is there again when the session is gone on with, however the program ended."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.errors import ModelUnreachable
from tests.tui.app.harness import Driver, driving
from tests.tui.app.kept import StartedRuntime
from tests.tui.fed_model import FedModel, Finished
from tui import unsent_keeper
from tui.commands import COMMANDS
from tui.config import load_settings
from tui.session_store import SessionStore
from tui.unsent import Unsent, read_unsent, unsent_path

TEXTS = ["erste Zeile\n  zweite\n\n日本語 한글 🙂 [/x] a\u2028b\x0bc\n", "a line\n" * 4_000]


@asynccontextmanager
async def chatting(
    model: FedModel | None = None, *, ends_well: bool = True, **which: str | bool
) -> AsyncIterator[Driver]:
    """The app on its real runtime; without a good end the files are left as they were while it ran."""
    runtime = StartedRuntime(load_settings({}), **which)  # type: ignore[arg-type]
    runtime.started = asyncio.Event()
    if model is not None:
        runtime._connection._models.append(model)
        runtime.agent.model = model
    async with driving(runtime) as driver:  # type: ignore[arg-type]
        yield driver
        folder = runtime.store.folder
        assert folder is not None
        if not ends_well:
            shutil.copytree(folder, folder.with_name("as_killed"))
    await runtime.aclose()
    if not ends_well:
        shutil.rmtree(folder)
        folder.with_name("as_killed").rename(folder)


def session_path(driver: Driver) -> Path:
    path = driver.main.runtime.session.path  # type: ignore[attr-defined]
    assert isinstance(path, Path)
    return path


@pytest.fixture(autouse=True)
def at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsent_keeper, "KEEP_SECONDS", 0.01)


@pytest.mark.parametrize("text", TEXTS, ids=["odd", "large"])
async def test_what_was_typed_when_it_was_killed_comes_back_with_its_session_only(text: str) -> None:
    async with chatting(ends_well=False) as driver:
        driver.main.chat.marks = ("planning",)
        await driver.paste(text)
        typed = driver.prompt.text
        kept = unsent_path(session_path(driver))
        await driver.until(lambda: driver.main.runtime.unsent.kept == Unsent(typed, ("planning",)))
        assert kept.stat().st_mode & 0o777 == 0o600
    async with chatting() as driver:
        assert driver.prompt.text == ""
    async with chatting(go_on=True) as driver:
        assert (driver.prompt.text, driver.main.chat.marks) == (typed, ("planning",))
        await driver.press("enter")
        await driver.rest()
        assert not kept.exists()


async def test_what_waits_behind_a_reply_is_kept_and_what_is_being_answered_is_not() -> None:
    async with chatting(FedModel(), ends_well=False) as driver:
        for text in ("one", "two", "three"):
            await driver.say(text)
        await driver.press("f", "o", "u", "r")
        await driver.until(lambda: driver.main.runtime.unsent.kept.text == "two\nthree\nfour")
    async with chatting(go_on=True) as driver:
        assert driver.prompt.text == "two\nthree\nfour"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_loses_nothing_that_was_typed_just_now(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsent_keeper, "KEEP_SECONDS", 60.0)
    async with chatting() as driver:
        await driver.press("h", "i")
        os.kill(os.getpid(), number)
        await driver.until(lambda: not driver.app.is_running)
        told = driver.main.runtime.unsent.told
    assert driver.main.runtime.session.id in told
    async with chatting(go_on=True) as driver:
        assert driver.prompt.text == "hi"


async def test_an_internal_error_loses_nothing_that_was_typed_just_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsent_keeper, "KEEP_SECONDS", 60.0)
    with pytest.raises(RuntimeError, match="a fault"):
        async with chatting() as driver:
            await driver.press("h", "i")
            driver.app._handle_exception(RuntimeError("a fault"))
            await driver.until(lambda: not driver.app.is_running)
    await driver.main.runtime.aclose()
    async with chatting(go_on=True) as driver:
        assert driver.prompt.text == "hi"


async def test_leaving_keeps_it_too_and_a_session_in_which_nothing_is_left_leaves_no_file() -> None:
    async with chatting() as driver:
        path = session_path(driver)
        await driver.press("h", "i")
        await driver.press("ctrl+q")
        await driver.until(lambda: not driver.app.is_running)
    assert path.exists()
    async with chatting() as driver:
        other = session_path(driver)
        await driver.press("h")
        await driver.until(other.exists)
        await driver.press("backspace")
        await driver.until(lambda: not unsent_path(other).exists())
    assert not other.exists()
    assert [info.id for info in SessionStore(path.parent).list()] == [path.stem]


async def test_a_new_session_takes_over_what_is_typed() -> None:
    async with chatting(FedModel()) as driver:
        before = session_path(driver)
        for text in ("one", "two"):
            await driver.say(text)
        await driver.press("h", "i")
        await driver.app.show_new_session()
        await driver.until(lambda: driver.prompt.is_attached)
        assert driver.prompt.text == "two\nhi"
        await driver.until(unsent_path(session_path(driver)).exists)
        assert not unsent_path(before).exists()


async def test_a_failed_reply_gives_back_what_could_not_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with chatting(FedModel()) as driver:

        async def refuse(*_: object, **__: object) -> None:
            raise OSError("no room")

        monkeypatch.setattr(driver.agent.memory, "add", refuse)
        await driver.say("one")
        await driver.see("no room")
        await driver.rest()
        assert driver.prompt.text == "one"


async def test_a_failed_reply_does_not_give_back_what_is_stored() -> None:
    model = FedModel()
    async with chatting(model) as driver:
        await driver.say("one")
        model.feed(ModelUnreachable("No connection."))
        await driver.see("No connection.")
        await driver.rest()
        assert driver.prompt.text == ""
        model.feed("Yes.", Finished("stop"))


@pytest.mark.parametrize(
    ("data", "unsent"),
    [
        (b'["a", 5, ""]\nhi\r\n', Unsent("hi\r\n", ("a",))),
        (b"5\nhi", Unsent("5\nhi")),
        (b'["torn\nhi', Unsent('["torn\nhi')),
        (b"[" * 100_000, Unsent("[" * 100_000)),
        (b"[]\n\xff", Unsent("\ufffd")),
        (b"", Unsent()),
    ],
    ids=["odd marks", "no list", "torn", "deep", "no text", "empty"],
)
def test_a_damaged_file_is_read_as_far_as_it_goes(tmp_path: Path, data: bytes, unsent: Unsent) -> None:
    """P02."""
    (tmp_path / "x.unsent").write_bytes(data)
    assert read_unsent(tmp_path / "x.unsent") == unsent


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.unsent")
    assert read_unsent(tmp_path / "x.unsent") == Unsent()
    assert read_unsent(tmp_path) == Unsent()


async def test_deleting_a_session_deletes_it() -> None:
    async with chatting() as driver:
        path = session_path(driver)
        await driver.press("h", "i")
        await driver.until(unsent_path(path).exists)
    SessionStore(path.parent).delete(path.stem)
    assert not list(path.parent.iterdir())


async def test_what_is_typed_comes_back_behind_older_prompts_and_commands() -> None:
    async with chatting() as driver:
        await driver.say("older")
        await driver.rest()
        await driver.press("h", "i", "up")
        assert driver.prompt.text == "older"
        await driver.until(lambda: driver.main.runtime.unsent.kept.text == "hi")
        await driver.press("down")
        driver.app.choose(next(command for command in COMMANDS if command.id == "mode"))
        assert driver.prompt.text == "/mode "
        await driver.press("escape", "up")
        assert driver.prompt.text == "hi"
