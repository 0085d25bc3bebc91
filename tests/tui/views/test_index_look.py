"""Looking at a large memory folder leaves the event loop, and with it the keys, alone."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

from memory import AgenticMemoryMiddleware
from tui.views.index_look import FolderLook, look_at


def folder_of(count: int, workdir: Path) -> Path:
    folder = workdir / "Memory"
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"n{number}.md").write_text(
            f"---\nname: N{number}\ndescription: about {number}\n---\nText {number}.\n"
        )
    lines = (f"- [N{number}](n{number}.md) — {number}\n" for number in range(count - 1))
    (folder / "MEMORY.md").write_text("".join(lines))
    return folder


async def calls_of_a_look(count: int, workdir: Path) -> tuple[int, FolderLook]:
    """How many functions of ours run in the event loop while one change among `count` files is looked at, and the look.

    Those of the loop itself do not count: how often it turns while it waits is chance.
    """
    folder = folder_of(count, workdir)
    memory = AgenticMemoryMiddleware(workdir)
    before = await look_at(memory, FolderLook())
    await memory.recording.settled()
    (folder / "n0.md").write_text("---\nname: N0\ndescription: something new\n---\nOther.\n")
    calls = 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_globals["__name__"].startswith(("memory.", "agent_core.", "tui."))

    # Of this thread only: what other threads do is what is wanted.
    sys.setprofile(count_call)
    try:
        look = await look_at(memory, before)
    finally:
        sys.setprofile(None)
    await memory.aclose()
    return calls, look


async def test_what_a_change_costs_the_event_loop_hardly_grows_with_the_number_of_files(tmp_path: Path) -> None:
    few, _ = await calls_of_a_look(50, tmp_path / "few")
    many, look = await calls_of_a_look(1050, tmp_path / "many")
    assert look.scan.files[0].description == "something new"
    assert (look.signs["✓"] + look.signs.get("✂", 0), look.signs["○"]) == (1049, 1)
    assert many - few < 500


async def test_an_index_that_is_as_before_is_not_parsed_again(tmp_path: Path) -> None:
    folder = folder_of(3, tmp_path)
    memory = AgenticMemoryMiddleware(tmp_path)
    before = await look_at(memory, FolderLook())
    (folder / "n0.md").unlink()
    after = await look_at(memory, before)
    assert after.links is before.links
    assert after.bad_links == ("line 1: n0.md: no such memory",)
    (folder / "MEMORY.md").write_text("- [N1](n1.md)\n")
    last = await look_at(memory, after)
    assert (len(last.links), last.bad_links) == (1, ())
    await memory.aclose()
