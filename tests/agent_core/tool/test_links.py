"""The file tools between the permission and the write: what was permitted is what is touched."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import ToolError
from agent_core.permission import AdditionalWorkingDirectory, PermissionBehavior, PermissionContext, PermissionMode
from agent_core.permission_engine import decide_permission
from agent_core.tool import CallContext, Edit, Read, ToolBase, Write, serving
from agent_core.tool.read_record import ReadRecord


class Guarded:
    """Tools as an agent runs them in mode accept_edits, with nobody to ask, in the folder `w`."""

    def __init__(self, root: Path) -> None:
        self.workdir, self.outside = root / "w", root / "outside"
        self.workdir.mkdir()
        self.outside.mkdir()
        (self.outside / "secret.md").write_text("secret")
        directory = AdditionalWorkingDirectory(str(self.workdir))
        self.context = PermissionContext(PermissionMode.ACCEPT_EDITS, {str(self.workdir): directory})
        self.reads = ReadRecord()

    async def run(self, tool: ToolBase, path: Path, between: Callable[[], None] = lambda: None, **more: Any) -> Any:
        arguments = {"file_path": str(path), **more}
        decision = await decide_permission(tool, arguments, self.context)
        if decision.behavior is not PermissionBehavior.ALLOW:
            raise PermissionError(decision.message)
        between()
        with serving(CallContext(self.reads, permitted_path=decision.path)):
            return await tool.call(**arguments)

    def nothing_got_out(self) -> bool:
        return os.listdir(self.outside) == ["secret.md"] and (self.outside / "secret.md").read_text() == "secret"


@pytest.fixture
def guarded(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path)


async def test_a_new_file_through_a_dangling_link_is_refused(guarded: Guarded) -> None:
    """X01: `new.md` leads to a file outside that does not exist yet."""
    (guarded.workdir / "new.md").symlink_to(guarded.outside / "out")
    with pytest.raises(PermissionError):
        await guarded.run(Write(), guarded.workdir / "new.md", content="x")
    assert guarded.nothing_got_out()


async def test_a_folder_link_to_the_outside_is_refused_and_one_to_the_inside_works(guarded: Guarded) -> None:
    """X03."""
    (guarded.workdir / "real").mkdir()
    (guarded.workdir / "in").symlink_to("real")
    (guarded.workdir / "out").symlink_to("../outside")
    for tool, more in (
        (Read(), {}),
        (Write(), {"content": "x"}),
        (Edit(), {"old_string": "secret", "new_string": "x"}),
    ):
        with pytest.raises(PermissionError):
            await guarded.run(tool, guarded.workdir / "out" / "secret.md", **more)
    assert guarded.nothing_got_out()
    await guarded.run(Write(), guarded.workdir / "in" / "a.md", content="hot tea")
    await guarded.run(Edit(), guarded.workdir / "real" / "a.md", old_string="hot", new_string="cold")
    assert await guarded.run(Read(), guarded.workdir / "in" / "a.md") == "     1\tcold tea"
    assert (guarded.workdir / "in").is_symlink()


async def test_a_link_put_in_after_the_permission_is_refused(guarded: Guarded) -> None:
    """X, link swapped between check and write."""
    (guarded.workdir / "sub").mkdir()

    def swap_file() -> None:
        (guarded.workdir / "new.md").symlink_to(guarded.outside / "secret.md")

    def swap_folder() -> None:
        (guarded.workdir / "sub").rmdir()
        (guarded.workdir / "sub").symlink_to(guarded.outside)

    for path, swap in ((guarded.workdir / "new.md", swap_file), (guarded.workdir / "sub" / "new.md", swap_folder)):
        with pytest.raises(ToolError, match=r"does not lead to .* any more"):
            await guarded.run(Write(), path, between=swap, content="x")
    assert guarded.nothing_got_out()


async def test_a_link_flipped_all_the_while_lets_nothing_in_or_out(guarded: Guarded) -> None:
    """X, link swapped between check and write by a thread."""
    inside = guarded.workdir / "memory"
    stop = threading.Event()

    def flip() -> None:
        for number in itertools.count():
            if stop.is_set():
                return
            inside.mkdir(exist_ok=True)
            inside.rename(guarded.workdir / f"aside {number}")
            with suppress(FileExistsError):
                inside.symlink_to(guarded.outside)
                inside.unlink()

    attacker = threading.Thread(target=flip)
    attacker.start()
    refused = (PermissionError, ToolError)
    try:
        for number in range(100):
            with suppress(*refused):
                await guarded.run(Write(), inside / f"{number}.md", content="x")
            with pytest.raises(refused):
                await guarded.run(Read(), inside / "secret.md")
    finally:
        stop.set()
        attacker.join()
    assert guarded.nothing_got_out()


async def test_a_hard_link_to_an_outside_file_does_not_change_it(guarded: Guarded) -> None:
    os.link(guarded.outside / "secret.md", guarded.workdir / "mine.md")
    await guarded.run(Read(), guarded.workdir / "mine.md")
    await guarded.run(Edit(), guarded.workdir / "mine.md", old_string="secret", new_string="changed")
    assert (guarded.workdir / "mine.md").read_text() == "changed"
    assert guarded.nothing_got_out()


async def test_the_working_directory_may_be_a_link(tmp_path: Path, guarded: Guarded) -> None:
    """X06."""
    (tmp_path / "r").symlink_to(guarded.workdir)
    guarded.context.working_directories = {"r": AdditionalWorkingDirectory(str(tmp_path / "r"))}
    await guarded.run(Write(), tmp_path / "r" / "a.md", content="one")
    await guarded.run(Write(), guarded.workdir / "a.md", content="two")
    assert (guarded.workdir / "a.md").read_text() == "two"
