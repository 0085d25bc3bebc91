"""`mnemoscope memory export` and `import`."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from tests.tui.memory_command import TEA, TEA_LINE, Shell


@pytest.mark.parametrize("name", ["out.zip", "out.json"])
def test_an_export_comes_back_whole_elsewhere(shell: Shell, tmp_path: Path, name: str) -> None:
    shell.put("tea.md", TEA)
    shell.put("sub/茶.md", b"\xef\xbb\xbf" + "茶\r\n".encode())
    shell.put("pic.png", b"\0\1\2")
    shell.put("MEMORY.md", TEA_LINE)
    file = str(tmp_path / name)
    assert shell("export", file).code == 0
    before = shell.tree()
    shell.workdir = tmp_path / "other"
    shell.folder = shell.workdir / "Memory"
    dry = shell("import", file, "--dry-run", "--json")
    assert dry.values[0]["created"] == ["pic.png", "sub/茶.md", "tea.md"]
    assert not shell.folder.exists()
    assert shell("import", file).code == 0
    assert shell.tree() == before
    again = shell("import", file, "--json").values[0]
    assert (again["created"], again["same"], again["entries"]) == ([], ["pic.png", "sub/茶.md", "tea.md"], [])
    assert "from outside" in shell("list").out


def test_an_export_replaces_nothing_unless_told_to_and_makes_no_folders(shell: Shell, tmp_path: Path) -> None:
    shell.put("tea.md", TEA)
    file = tmp_path / "precious"
    file.write_text("mine")
    refused = shell("export", str(file))
    assert (refused.code, file.read_text()) == (1, "mine")
    assert "--force" in refused.err
    assert shell("export", str(file), "--force").code == 0
    assert zipfile.is_zipfile(file)
    assert shell("export", str(tmp_path / "no/such/folder.zip")).code == 1
    assert not (tmp_path / "no").exists()


def test_what_cannot_come_along_is_named_and_the_exit_code_says_so(shell: Shell, tmp_path: Path) -> None:
    """F23."""
    shell.put("tea.md", TEA)
    with shell.put("huge.md", b"x").open("ab") as end:
        end.truncate(200 * 2**20)
    answer = shell("export", str(tmp_path / "out.zip"), "--json")
    assert answer.code == 1
    assert answer.values[0]["left_out"] == {"huge.md": "it is larger than 16 MiB"}
    assert "huge.md was left out" in answer.err


def test_memories_that_are_here_stay_unless_told_otherwise(shell: Shell, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "tea.md").write_text("theirs")
    (theirs / "new.md").write_text("new")
    shell.put("tea.md", TEA)
    assert "tea.md: left as it is here" in shell("import", str(theirs)).out
    assert shell.tree()["tea.md"] == TEA.encode()
    answer = shell("import", str(theirs), "--overwrite")
    assert "tea.md: replaced" in answer.out
    assert shell.tree()["tea.md"] == b"theirs"
    assert shell("undo").out.startswith("Undone: import of tea.md from outside")
    assert shell.tree()["tea.md"] == TEA.encode()
    assert shell("undo").out.startswith("Undone: import of new.md from outside")


def test_an_import_of_several_files_is_undone_as_one(shell: Shell, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(name)
    assert shell("import", str(tmp_path)).code == 0
    assert shell("undo").out.startswith("Undone: import of 3 files from outside")
    assert shell.tree() == {}


@pytest.mark.parametrize("place", ["", "Memory", "memory"])
def test_folders_of_agentscope_and_claude_code_are_taken_in_as_they_are(
    shell: Shell, tmp_path: Path, place: str
) -> None:
    """A folder itself, AgentScope's workdir with `Memory` in it, and Claude Code's project with `memory` in it."""
    theirs = tmp_path / "theirs"
    folder = theirs / place
    folder.mkdir(parents=True)
    (theirs / "session.jsonl").write_text("{}\n")
    (folder / "MEMORY.md").write_text("- [Drinks](drinks.md) — oolong first\n")
    (folder / "drinks.md").write_text(
        "---\nname: drinks\ndescription: oolong first\nmetadata:\n  type: user\n---\nOolong.\n"
    )
    outside = tmp_path / "outside.md"
    outside.write_text("not theirs")
    (folder / "leak.md").symlink_to(outside)
    assert shell("import", str(theirs)).code == 0
    assert shell.tree()["drinks.md"] == (folder / "drinks.md").read_bytes()
    assert b"[Drinks](drinks.md)" in shell.tree()["MEMORY.md"]
    assert "leak.md" not in shell.tree()
    (listed,) = [value for value in shell("list", "--json").values if value["path"] == "drinks.md"]
    assert (listed["type"], listed["in_index"]) == ("user", True)


@pytest.mark.parametrize("name", ["../evil.md", "/evil.md", "a/../../evil.md", ".hidden.md"])
def test_a_zip_that_climbs_out_is_refused_file_by_file(shell: Shell, tmp_path: Path, name: str) -> None:
    """L02, X01."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"mnemoscope_export": 1, "files": {}}))
        archive.writestr(f"memory/{name}", "evil")
        archive.writestr("memory/good.md", "good")
    file = tmp_path / "theirs.zip"
    file.write_bytes(data.getvalue())
    answer = shell("import", str(file))
    assert answer.code == 1
    assert "was not taken in" in answer.err
    assert set(shell.tree()) == {"good.md", "MEMORY.md"}
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize(
    "content", [b"", b"PK\3\4 torn", b"{}", b"[1, 2]", b"\0\1\2", b'{"mnemoscope_export": 99, "files": {}}']
)
def test_what_is_no_export_is_one_line(shell: Shell, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    answer = shell("import", str(file))
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("mnemoscope: ")
    assert answer.err.count("\n") == 1
    assert not shell.folder.exists()


def test_missing_and_empty_sources_are_one_line(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source in ("empty", "missing", "missing/deeper"):
        answer = shell("import", str(tmp_path / source))
        assert answer.code == 1
        assert answer.err.count("\n") == 1
