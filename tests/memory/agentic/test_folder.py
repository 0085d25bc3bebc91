"""The memory folder: what is listed, what is read, what is refused."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from memory.agentic.folder import IndexFile, Scan
from memory.agentic.memory_file import READ_LIMIT, MemoryFile
from tests.memory.agentic.folders import CountingBackend, age, folder_in, put, save, scan

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


async def test_a_topic_file_is_known_by_its_header(tmp_path: Path) -> None:
    path = save(tmp_path, "tea.md", "Oolong, at four.", description="what the user drinks", kind="user")
    file = (await scan(tmp_path))["tea.md"]
    assert file == MemoryFile(
        path=str(path.resolve()),
        relative="tea.md",
        name="tea",
        description="what the user drinks",
        type="user",
        modified=path.stat().st_mtime,
        size=path.stat().st_size,
        version=file.version,
        excerpt="Oolong, at four.",
        body_hash=file.body_hash,
    )


async def test_a_file_without_header_goes_by_its_name_and_first_line(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", "\n# Tea of the user\n\nOolong.")
    file = (await scan(tmp_path))["tea.md"]
    assert (file.name, file.description, file.type, file.badges) == ("tea", "", "", ())
    assert file.summary == "Tea of the user"


async def test_a_type_in_a_nested_mapping_is_found(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", "---\nname: tea\nmetadata:\n  type: feedback\n---\nx")
    assert (await scan(tmp_path))["tea.md"].type == "feedback"


async def test_a_broken_header_is_a_badge_and_the_file_is_listed_by_name(tmp_path: Path) -> None:
    """F06, F08."""
    put(tmp_path, "plan.md", "---\ndescription: Plan: move (was: Monday)\nother: {\n---\nbody")
    file = (await scan(tmp_path))["plan.md"]
    assert (file.name, file.description) == ("plan", "Plan: move (was: Monday)")
    assert file.is_readable
    assert file.badges[0].startswith("the header is not valid YAML")


async def test_newest_files_come_first(tmp_path: Path) -> None:
    for number in range(3):
        save(tmp_path, f"{number}.md", days_old=3 - number)
    assert [file.relative for file in (await folder_in(tmp_path).scan()).files] == ["2.md", "1.md", "0.md"]


async def test_which_files_are_topics(tmp_path: Path) -> None:
    """L13: nested folders are listed, `.MD` counts; a nested MEMORY.md is neither index nor topic."""
    for name in ["a.md", "B.MD", "sub/c.md", "sub/deep/d.md"]:
        save(tmp_path, name)
    for name in ["MEMORY.md", "sub/MEMORY.md", ".hidden.md", ".git/x.md", "notes.txt", "x.md~", ".a.md.tmp", "md"]:
        put(tmp_path, name, "no topic")
    (tmp_path / "Memory/folder.md").mkdir()
    assert set(await scan(tmp_path)) == {"a.md", "B.MD", "sub/c.md", "sub/deep/d.md"}


async def test_no_folder_is_an_empty_folder(tmp_path: Path) -> None:
    folder = folder_in(tmp_path / "not" / "there")
    assert await folder.scan() == Scan()
    assert await folder.read_index() == IndexFile(str(tmp_path / "not/there/Memory/MEMORY.md"), found=False)
    assert not (tmp_path / "not").exists()


async def test_a_folder_that_vanishes_and_comes_back_is_followed(tmp_path: Path) -> None:
    save(tmp_path, "a.md")
    put(tmp_path, "MEMORY.md", "- [A](a.md)")
    folder = folder_in(tmp_path)
    assert len((await folder.scan()).files) == 1
    shutil.rmtree(tmp_path / "Memory")
    assert await folder.scan() == Scan()
    assert not (await folder.read_index()).found
    save(tmp_path, "b.md")
    assert [file.relative for file in (await folder.scan()).files] == ["b.md"]


async def test_a_file_in_place_of_the_folder_is_a_problem_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "Memory").write_text("a file")
    found = await folder_in(tmp_path).scan()
    assert found.files == ()
    assert "cannot be listed" in found.problems[0]


async def test_a_turn_costs_a_listing_and_no_reading_while_nothing_changes(tmp_path: Path) -> None:
    for number in range(5):
        save(tmp_path, f"{number}.md")
    backend = CountingBackend()
    folder = folder_in(tmp_path, backend)
    first = await folder.scan()
    assert (first.headers_read, len(backend.reads)) == (5, 5)
    again = await folder.scan()
    assert (again.headers_read, len(backend.reads), backend.listings) == (0, 5, 2)
    assert again.files == first.files


async def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    paths = [save(tmp_path, f"{number}.md", description="old") for number in range(3)]
    backend = CountingBackend()
    folder = folder_in(tmp_path, backend)
    await folder.scan()
    backend.reads.clear()
    save(tmp_path, "1.md", description="new")
    age(paths[1], 1)
    paths[2].unlink()
    save(tmp_path, "3.md", description="more")
    found = {file.relative: file.description for file in (await folder.scan()).files}
    assert found == {"0.md": "old", "1.md": "new", "3.md": "more"}
    assert sorted(backend.reads) == ["1.md", "3.md"]


async def test_a_header_that_changes_at_the_same_length_is_seen(tmp_path: Path) -> None:
    save(tmp_path, "a.md", description="tea")
    folder = folder_in(tmp_path)
    await folder.scan()
    age(save(tmp_path, "a.md", description="ale"), 1)
    assert [file.description for file in (await folder.scan()).files] == ["ale"]


async def test_a_link_that_leads_outside_is_badged_and_never_opened(tmp_path: Path) -> None:
    """X03."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("---\nname: secret\n---\nsecret")
    save(tmp_path, "real.md")
    (tmp_path / "Memory/secret.md").symlink_to(outside / "secret.md")
    (tmp_path / "Memory/out").symlink_to("../outside")
    backend = CountingBackend()
    folder = folder_in(tmp_path, backend)
    files = {file.relative: file for file in (await folder.scan()).files}
    assert set(files) == {"real.md", "secret.md", "out"}
    for name in ["secret.md", "out"]:
        assert files[name].badges == ("link leads outside",)
        assert not files[name].is_readable
    assert backend.reads == ["real.md"]
    for path in ["secret.md", "out/secret.md", "../outside/secret.md", str(outside / "secret.md")]:
        assert await folder.locate(path) is None
        with pytest.raises(PermissionError):
            await folder.read(path)


async def test_a_link_that_stays_inside_works_and_its_file_is_listed_once(tmp_path: Path) -> None:
    """X03, L13."""
    path = save(tmp_path, "sub/real.md", "inside")
    put(tmp_path, "notes.txt", "plain notes")
    (tmp_path / "Memory/alias.md").symlink_to("sub/real.md")
    (tmp_path / "Memory/again.md").symlink_to(path)
    (tmp_path / "Memory/index.md").symlink_to("MEMORY.md")
    (tmp_path / "Memory/notes.md").symlink_to("notes.txt")
    (tmp_path / "Memory/dir").symlink_to("sub")
    (tmp_path / "Memory/sub/up").symlink_to("..")
    put(tmp_path, "MEMORY.md", "index")
    folder = folder_in(tmp_path)
    assert {file.relative for file in (await folder.scan()).files} == {"sub/real.md", "notes.md"}
    assert "inside" in (await folder.read("alias.md")).text


async def test_links_that_lead_nowhere_or_in_a_circle_are_left_out(tmp_path: Path) -> None:
    """X01."""
    save(tmp_path, "real.md")
    (tmp_path / "Memory/dangling.md").symlink_to(tmp_path / "nowhere.md")
    (tmp_path / "Memory/loop.md").symlink_to("loop.md")
    folder = folder_in(tmp_path)
    assert {file.relative for file in (await folder.scan()).files} == {"real.md"}
    assert await folder.locate("dangling.md") is None
    assert await folder.locate("loop.md") is None


async def test_a_link_turned_outside_between_two_scans_is_noticed(tmp_path: Path) -> None:
    save(tmp_path, ".store/a.md", "inside")
    (tmp_path / "outside.md").write_text("outside")
    link = tmp_path / "Memory/a.md"
    link.symlink_to(".store/a.md")
    folder = folder_in(tmp_path)
    assert [file.is_readable for file in (await folder.scan()).files] == [True]
    link.unlink()
    link.symlink_to(tmp_path / "outside.md")
    assert [file.badges for file in (await folder.scan()).files] == [("link leads outside",)]


async def test_a_link_that_becomes_the_file_itself_is_listed_at_its_own_path(tmp_path: Path) -> None:
    """The entry's name, inode, size and time stay; where it is does not."""
    store = save(tmp_path, ".store/a.md", "inside")
    link = tmp_path / "Memory/a.md"
    link.symlink_to(store)
    folder = folder_in(tmp_path)
    assert [file.path for file in (await folder.scan()).files] == [str(store.resolve())]
    link.unlink()
    link.hardlink_to(store)
    assert [file.path for file in (await folder.scan()).files] == [str(link.resolve())]


async def test_a_linked_file_costs_no_reading_while_nothing_changes(tmp_path: Path) -> None:
    save(tmp_path, ".store/a.md", "inside")
    (tmp_path / "Memory/a.md").symlink_to(".store/a.md")
    backend = CountingBackend()
    folder = folder_in(tmp_path, backend)
    first = await folder.scan()
    again = await folder.scan()
    assert again.files == first.files
    assert (first.headers_read, again.headers_read, backend.reads) == (1, 0, ["a.md"])


async def test_the_folder_may_be_reached_through_links_and_relative_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L09, X06: there is one path, with links resolved, for all uses."""
    real = tmp_path / "real"
    save(real, "a.md")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    for workdir in [Path("link"), Path("./real/../link"), tmp_path / "link"]:
        folder = folder_in(workdir)
        assert await folder.root() == str(real / "Memory")
        (file,) = (await folder.scan()).files
        assert file.path == str(real / "Memory/a.md")


async def test_a_folder_that_cannot_be_listed_is_a_problem_and_costs_the_others_nothing(tmp_path: Path) -> None:
    save(tmp_path, "a.md")
    put(tmp_path, "locked/b.md", "x")

    class Locked(CountingBackend):
        async def list_dir(self, path: str):
            if path.endswith("locked"):
                raise PermissionError(13, "Permission denied", path)
            return await super().list_dir(path)

    found = await folder_in(tmp_path, Locked()).scan()
    assert [file.relative for file in found.files] == ["a.md"]
    assert found.problems == ("locked/ cannot be listed: Permission denied",)


async def test_a_file_that_cannot_be_opened_is_badged_and_tried_again(tmp_path: Path) -> None:
    save(tmp_path, "a.md", description="tea")
    refusing = True

    class Refusing(CountingBackend):
        async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
            if refusing:
                raise PermissionError(13, "Permission denied", path)
            return await super().read_file(path, limit=limit, follow=follow)

    folder = folder_in(tmp_path, Refusing())
    assert [file.badges for file in (await folder.scan()).files] == [("cannot be read",)]
    refusing = False
    assert [file.description for file in (await folder.scan()).files] == ["tea"]


async def test_what_is_no_regular_file_is_never_waited_for(tmp_path: Path) -> None:
    save(tmp_path, "a.md")
    os.mkfifo(tmp_path / "Memory/pipe.md")
    files = await scan(tmp_path)
    assert files["pipe.md"].badges == ("cannot be read",)


async def test_bytes_that_are_not_utf8_are_replaced_badged_and_left_on_disk(tmp_path: Path) -> None:
    """F22."""
    latin = put(tmp_path, "latin.md", b"---\nname: caf\xe9\n---\ncaf\xe9")
    cut = put(tmp_path, "cut.md", "---\nname: x\n---\n中国".encode()[:-1])
    before = latin.read_bytes(), cut.read_bytes()
    files = await scan(tmp_path)
    assert files["latin.md"].name == "caf�"
    for name in ["latin.md", "cut.md"]:
        assert files[name].badges == ("not UTF-8",)
        text, badges = await folder_in(tmp_path).read(name)
        assert "�" in text
        assert badges == ("not UTF-8",)
    assert (latin.read_bytes(), cut.read_bytes()) == before


async def test_a_character_on_the_edge_of_what_is_read_for_the_header_is_no_fault(tmp_path: Path) -> None:
    """F22: all three places where a three-byte character can be cut."""
    for offset in range(3):
        put(tmp_path, f"{offset}.md", "x" * offset + "中" * 20_000)
    assert all("not UTF-8" not in file.badges for file in (await scan(tmp_path)).values())


async def test_a_huge_file_is_read_in_part_and_badged(tmp_path: Path) -> None:
    """F23: one line of 200 MB, and a million short lines."""
    line = put(tmp_path, "line.md", "---\nname: long\n---\n" + "x" * READ_LIMIT)
    with line.open("ab") as file:
        file.truncate(200_000_000)
    put(tmp_path, "lines.md", "short\n" * 1_000_000)
    files = await scan(tmp_path)
    assert files["line.md"].name == "long"
    for name in ["line.md", "lines.md"]:
        assert "too large" in files[name].badges
        text, badges = await folder_in(tmp_path).read(name)
        assert len(text) <= READ_LIMIT
        assert badges == ("too large",)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
async def test_a_file_in_utf_16_is_badged_with_the_way_out_and_gives_no_text(tmp_path: Path, encoding: str) -> None:
    """F25: to whoever reads bytes it is binary; to who saved it in an editor it is not."""
    put(tmp_path, "tea.md", "\ufefflikes oolong".encode(encoding))
    put(tmp_path, "茶.md", "\ufeff喜欢乌龙茶".encode(encoding))
    for file in (await scan(tmp_path)).values():
        assert file.badges == ("binary", "UTF-16: to be saved as UTF-8")
        assert not file.is_readable
        assert (await folder_in(tmp_path).read(file.relative)).text == ""


async def test_a_binary_file_is_badged_and_gives_no_text(tmp_path: Path) -> None:
    """F25."""
    put(tmp_path, "pic.md", PNG)
    put(tmp_path, "pic.png", PNG)
    files = await scan(tmp_path)
    assert set(files) == {"pic.md"}
    assert files["pic.md"].badges == ("binary",)
    assert not files["pic.md"].is_readable
    assert (await folder_in(tmp_path).read("pic.md")).text == ""


async def test_a_byte_order_mark_is_never_shown(tmp_path: Path) -> None:
    """F01."""
    put(tmp_path, "tea.md", b"\xef\xbb\xbf---\nname: tea\n---\nbody")
    put(tmp_path, "MEMORY.md", b"\xef\xbb\xbf- [Tea](tea.md)")
    folder = folder_in(tmp_path)
    assert [file.name for file in (await folder.scan()).files] == ["tea"]
    assert (await folder.read_index()).text == "- [Tea](tea.md)"


async def test_a_name_that_is_not_utf8_is_shown_and_still_opened(tmp_path: Path) -> None:
    (tmp_path / "Memory").mkdir()
    with open(os.fsencode(tmp_path / "Memory") + b"/caf\xe9.md", "wb") as file:
        file.write(b"coffee")
    folder = folder_in(tmp_path)
    (found,) = (await folder.scan()).files
    assert (found.relative, found.name) == ("caf�.md", "caf�")
    assert (await folder.read(found.path)).text == "coffee"


async def test_the_same_fact_under_two_names_is_badged_on_the_older(tmp_path: Path) -> None:
    """L12: nothing is deleted."""
    save(tmp_path, "new.md", "Answers are short.", description="how to answer")
    save(tmp_path, "old.md", "Answers are  short.", description="the style", days_old=1)
    save(tmp_path, "third.md", "Something else.", description="How to  answer", days_old=2)
    save(tmp_path, "other.md", "No relation.", description="tea", days_old=3)
    assert {name: file.badges for name, file in (await scan(tmp_path)).items()} == {
        "new.md": (),
        "old.md": ("says the same as new.md",),
        "third.md": ("says the same as new.md",),
        "other.md": (),
    }


async def test_the_index_is_opened_only_when_it_has_changed(tmp_path: Path) -> None:
    path = put(tmp_path, "MEMORY.md", "- [A](a.md)")
    backend = CountingBackend()
    folder = folder_in(tmp_path, backend)
    for _ in range(3):
        assert (await folder.read_index()).text == "- [A](a.md)"
    assert backend.reads == ["MEMORY.md"]
    path.write_text("- [B](b.md)")
    age(path, 1)
    assert (await folder.read_index()).text == "- [B](b.md)"


async def test_an_index_that_leads_outside_or_is_binary_is_not_read(tmp_path: Path) -> None:
    """X03, F25."""
    (tmp_path / "passwords").write_text("secret")
    (tmp_path / "Memory").mkdir()
    path = tmp_path / "Memory/MEMORY.md"
    path.symlink_to(tmp_path / "passwords")
    assert await folder_in(tmp_path).read_index() == IndexFile(str(path), found=True, badge="link leads outside")
    path.unlink()
    put(tmp_path, "MEMORY.md", PNG)
    assert await folder_in(tmp_path).read_index() == IndexFile(str(path), found=True, badge="binary")
