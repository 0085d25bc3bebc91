"""Links of the index against the files that there are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import pytest

from agent_core.tool.local_backend import LocalBackend
from memory.agentic.folder import MemoryFolder
from memory.agentic.index import parse_index
from memory.agentic.links import MISSING, REFUSED, Link, follow_links, without_link
from tests.memory.agentic.folders import folder_in, put, save


async def follow(workdir: Path, index: str) -> list[Link]:
    folder = folder_in(workdir)
    return await follow_links(folder, parse_index(index), (await folder.scan()).files)


def told(link: Link) -> str:
    return link.file.relative if link.file else link.problem


@pytest.mark.parametrize(
    "target",
    [
        "the brief.md",
        "the%20brief.md",
        "<the brief.md>",
        'the brief.md "title"',
        "./the brief.md",
        "the%20brief.md#part",
    ],
)
async def test_every_spelling_leads_to_the_file(tmp_path: Path, target: str) -> None:
    """L01, L02."""
    save(tmp_path, "the brief.md")
    assert [told(link) for link in await follow(tmp_path, f"- [Brief]({target})")] == ["the brief.md"]


@pytest.mark.parametrize(
    "target",
    ["..%2F..%2Fetc%2Fpasswd", "../../etc/passwd", "/etc/passwd", "%2Fetc%2Fpasswd", "out/secret.md", "..%5C..%5Cx.md"],
)
async def test_a_link_that_climbs_out_is_refused(tmp_path: Path, target: str) -> None:
    """L02, X03."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_text("secret")
    save(tmp_path, "a.md")
    (tmp_path / "Memory/out").symlink_to("../outside")
    (link,) = await follow(tmp_path, f"- [X]({target})")
    assert (link.file, link.problem) == (None, REFUSED)


async def test_many_links_that_lead_nowhere_are_each_looked_for_once(tmp_path: Path) -> None:
    class Counting(LocalBackend):
        asked: ClassVar[list[str]] = []

        async def resolve(self, path: str) -> str:
            self.asked.append(os.path.basename(path))
            return await super().resolve(path)

    index = "".join(f"- [{number}](gone{number % 50}.md)\n" for number in range(200))
    folder = MemoryFolder(tmp_path, "Memory", Counting())
    assert [told(link) for link in await follow_links(folder, parse_index(index), ())] == [MISSING] * 200
    assert sorted(Counting.asked) == sorted(["Memory", *(f"gone{number}.md" for number in range(50))])


async def test_a_link_without_a_memory_behind_it_is_shown_as_broken(tmp_path: Path) -> None:
    """L01, F25: never silently absent."""
    put(tmp_path, "pic.png", b"\x89PNG\0")
    save(tmp_path, "a.md")
    index = "[gone](gone.md) [pic](pic.png) [web](https://example.org/a.md) [nested](sub/MEMORY.md)"
    assert [told(link) for link in await follow(tmp_path, index)] == [MISSING] * 4


async def test_other_names_of_a_file_lead_to_it(tmp_path: Path) -> None:
    save(tmp_path, "sub/real.md")
    save(tmp_path, "cafe\u0301.md")
    save(tmp_path, "100%.md")
    (tmp_path / "Memory/alias.md").symlink_to("sub/real.md")
    (tmp_path / "Memory/dir").symlink_to("sub")
    index = r"[1](alias.md) [2](dir/real.md) [3](sub/../sub/real.md) [4](sub\real.md) [5](caf%C3%A9.md) [6](100%.md)"
    assert [told(link) for link in await follow(tmp_path, index)] == [*["sub/real.md"] * 4, "cafe\u0301.md", "100%.md"]


async def test_a_listed_file_that_leads_outside_is_told_as_such(tmp_path: Path) -> None:
    """X03."""
    (tmp_path / "secret.md").write_text("secret")
    save(tmp_path, "a.md")
    (tmp_path / "Memory/secret.md").symlink_to("../secret.md")
    (link,) = await follow(tmp_path, "[S](secret.md)")
    assert link.problem == REFUSED


async def test_files_that_no_link_leads_to_are_known(tmp_path: Path) -> None:
    for name in ["a.md", "b.md", "sub/c.md"]:
        save(tmp_path, name)
    folder = folder_in(tmp_path)
    files = (await folder.scan()).files
    links = await follow_links(folder, parse_index("[A](a.md)\n[A again](a.md)\n[X](x.md)"), files)
    assert sorted(file.relative for file in without_link(links, files)) == ["b.md", "sub/c.md"]
