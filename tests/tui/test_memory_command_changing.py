"""`mnemoscope memory new`, `edit`, `rename`, `delete`, `pin`, `disable` and their opposites, `history` and `undo`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.memory_command import TEA, TEA_LINE, Shell

ROOT = Path(__file__).parents[2]
KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


def test_a_new_memory_is_written_in_the_editor_from_a_template(shell: Shell) -> None:
    ran = shell.use_editor(
        "text = path.read_text()\n"
        "assert text.startswith('---\\nname: Answer style\\ndescription: \\ntype: feedback\\n---\\n'), text\n"
        "assert '**Why:**' in text and '**How to apply:**' in text\n"
        "text = text.replace('description: ', 'description: how long answers should be')\n"
        "path.write_text(text.replace('**Why:**', 'Answer briefly.\\n**Why:** reads on a phone'))"
    )
    answer = shell("new", "Answer style", "--type", "feedback")
    assert answer == (0, "Made answer_style.md.\n", "")
    text = shell.tree()["answer_style.md"].decode()
    assert "Answer briefly.\n**Why:** reads on a phone" in text
    assert "<!--" not in text
    assert shell.tree()["MEMORY.md"] == "- [Answer style](answer_style.md) — how long answers should be\n".encode()
    assert not Path(ran.read_text()).parent.exists()
    (entry,) = [value for value in shell("history", "answer", "--json").values if value["path"] == "answer_style.md"]
    assert (entry["action"], entry["origin"]) == ("create", "user")


@pytest.mark.parametrize("program", ["pass", "path.write_text('')", "path.write_text('  \\n')", "sys.exit(3)"])
def test_nothing_written_makes_no_memory(shell: Shell, program: str) -> None:
    ran = shell.use_editor(program)
    answer = shell("new", "Tea")
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert not shell.folder.exists()
    assert not Path(ran.read_text()).parent.exists()


def test_a_new_memory_from_a_file_gets_a_header_unless_it_has_one(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("\ufeffLikes oolong.\n")
    (tmp_path / "whole.md").write_text(TEA)
    words = ["--description", "what to drink", "--from", str(tmp_path / "plain.txt")]
    assert shell("new", "sub/my_tea.md", *words).code == 0
    assert shell.tree()["sub/my_tea.md"].decode() == (
        "---\nname: my tea\ndescription: what to drink\ntype: user\n---\n\nLikes oolong.\n"
    )
    assert shell("new", "anything", "--from", str(tmp_path / "whole.md"), "--json").values[0]["path"] == "tea.md"
    assert shell.tree()["tea.md"] == TEA.encode()
    again = shell("new", "tea.md", "--from", str(tmp_path / "whole.md"))
    assert again.code == 1
    assert "exists already" in again.err


def test_standard_input_gives_the_text_too(shell: Shell) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "tui", "memory", "new", "茶", "--from", "-", "--workdir", str(shell.workdir)],
        input="喜欢乌龙茶。\n".encode(),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=True,
    )
    assert answer.stdout.decode() == "Made 茶.md.\n"
    assert "喜欢乌龙茶。" in shell.tree()["茶.md"].decode()


@pytest.mark.parametrize("name", ["../out.md", "/abs.md", ".hidden.md", "con.md", "MEMORY.md", "a\x1bb.md"])
def test_names_that_lead_elsewhere_or_fit_no_disk_are_refused(shell: Shell, tmp_path: Path, name: str) -> None:
    """X01: before and after there is such a file."""
    (tmp_path / "text").write_text("x")
    answer = shell("new", name, "--from", str(tmp_path / "text"))
    assert answer.code == 1
    assert "\x1b" not in answer.err
    assert shell.tree() == {}


def test_an_edit_is_the_users_and_keeps_what_it_leaves_alone(shell: Shell) -> None:
    """F26, F22, F01: line ends, bytes that are not UTF-8, the byte order mark."""
    shell.put("a.md", b"\xef\xbb\xbf---\r\nname: A\r\n---\r\ncaf\xe9\r\nold\r\n")
    shell.use_editor("path.write_bytes(path.read_bytes().replace(b'old', b'new'))")
    assert shell("edit", "a").code == 0
    assert shell.tree()["a.md"] == b"\xef\xbb\xbf---\r\nname: A\r\n---\r\ncaf\xe9\r\nnew\r\n"
    (edited,) = shell("history", "a", "--json", "--diff").values
    assert (edited["action"], edited["origin"]) == ("edit", "user")
    assert "-old" in edited["diff"]
    assert "+new" in edited["diff"]
    assert "by you" in shell("list").out


def test_an_editor_that_changes_nothing_leaves_no_trace(shell: Shell) -> None:
    """C17."""
    file = shell.put("tea.md", TEA)
    before = file.stat().st_mtime_ns
    shell.use_editor("pass")
    assert shell("edit", "tea") == (0, "tea.md is as it was.\n", "")
    assert file.stat().st_mtime_ns == before
    assert shell("history").out == "Nothing has been changed yet.\n"


def test_what_was_written_is_kept_when_the_file_has_changed_meanwhile(shell: Shell) -> None:
    """P08: nobody's words are lost, and the difference is shown."""
    file = shell.put("tea.md", TEA)
    ran = shell.use_editor(
        f"path.write_text(path.read_text() + 'mine')\nPath({str(file)!r}).write_text('theirs, entirely another text')"
    )
    answer = shell("edit", "tea", "--yes")
    draft = Path(ran.read_text())
    assert answer.code == 1
    assert "has changed since it was read" in answer.err
    assert "+theirs, entirely another text" in answer.err
    assert str(draft) in answer.err
    assert draft.read_text().endswith("mine")
    assert file.read_text() == "theirs, entirely another text"


@pytest.mark.parametrize("editor", ["/no/such/editor", "'unclosed", ""])
def test_an_editor_that_cannot_be_had_is_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch, editor: str) -> None:
    shell.put("tea.md", TEA)
    monkeypatch.setenv("VISUAL", editor)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    answer = shell("edit", "tea")
    sys.stdin.close()
    assert answer.code == 1
    assert answer.err.startswith("mnemoscope: ")
    assert answer.err.count("\n") == 1


def test_a_secret_or_a_great_loss_needs_a_yes(shell: Shell, tmp_path: Path) -> None:
    shell.put("tea.md", TEA * 5)
    (tmp_path / "secret").write_text(f"{TEA * 5}{KEY}\n")
    (tmp_path / "short").write_text("x\n")
    for source, why in (("secret", "looks like"), ("short", "are removed")):
        answer = shell("edit", "tea", "--from", str(tmp_path / source))
        assert answer.code == 1
        assert why in answer.err
        assert "--yes" in answer.err
        assert KEY not in answer.err
        assert shell.tree()["tea.md"] == (TEA * 5).encode()
    assert shell("edit", "tea", "--from", str(tmp_path / "short"), "--yes").code == 0


def test_a_rename_takes_all_links_along(shell: Shell) -> None:
    shell.put("tea.md", TEA)
    shell.put("other.md", "see [Tea](tea.md)\n")
    shell.put("MEMORY.md", TEA_LINE)
    assert shell("rename", "tea", "drinks/oolong").out == "tea.md is called drinks/oolong.md now.\n"
    assert set(shell.tree()) == {"MEMORY.md", "other.md", "drinks/oolong.md"}
    assert shell.tree()["other.md"] == b"see [Tea](drinks/oolong.md)\n"
    assert b"(drinks/oolong.md)" in shell.tree()["MEMORY.md"]
    assert shell("rename", "oolong", "../out").code == 1


def test_a_memory_is_pinned_and_disabled_and_back_again(shell: Shell) -> None:
    shell.put("tea.md", TEA)
    shell.put("MEMORY.md", TEA_LINE)
    for word, back, badge in (("pin", "unpin", "pinned"), ("disable", "enable", "disabled")):
        assert shell(word, "tea").code == 0
        assert f"[{badge}]" in shell("list").out
        assert "already" in shell(word, "tea").out
        assert shell(word, "tea", "--json").values == [{"action": word, "path": "tea.md", "entries": []}]
        assert shell(back, "tea").code == 0
        assert shell.tree() == {"tea.md": TEA.encode(), "MEMORY.md": TEA_LINE.encode()}


def test_a_deletion_is_undone_and_that_too(shell: Shell) -> None:
    shell.put("tea.md", TEA)
    shell.put("MEMORY.md", TEA_LINE)
    before = shell.tree()
    deleted = shell("delete", "tea")
    assert deleted.code == 0
    assert shell.tree() == {"MEMORY.md": b""} or "tea.md" not in shell.tree()
    undone = shell("undo")
    assert undone.code == 0
    assert "delete of tea.md by you" in undone.out
    assert shell.tree() == before
    assert shell("undo", undone.out.split()[-1]).code == 0
    assert "tea.md" not in shell.tree()
    assert shell("history", "tea").code == 0


def test_undo_goes_back_step_by_step(shell: Shell, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        (tmp_path / str(number)).write_text(f"{TEA}line {number}\n")
    shell("new", "tea.md", "--from", str(tmp_path / "1"))
    shell("edit", "tea", "--from", str(tmp_path / "2"))
    shell("edit", "tea", "--from", str(tmp_path / "3"))
    for left in (b"line 2", b"line 1"):
        assert shell("undo").code == 0
        assert left in shell.tree()["tea.md"]
    assert shell("undo").code == 0
    assert "tea.md" not in shell.tree()
    last = shell("undo")
    assert last == (1, "", "mnemoscope: There is no change that could be undone.\n")


def test_an_undo_of_what_has_changed_since_is_refused_with_the_difference(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEA)
    (entry, *_) = shell("new", "tea.md", "--from", str(tmp_path / "text"), "--json").values[0]["entries"]
    shell.put("tea.md", TEA + "Since then.\n")
    answer = shell("undo", entry[:8])
    assert answer.code == 1
    assert "tea.md has changed since: the change was not undone." in answer.err
    assert "+Since then." in answer.err
    assert shell.tree()["tea.md"].endswith(b"Since then.\n")
    assert shell("undo", "ffff").code == 1


def test_changes_by_others_are_in_the_history_as_such(shell: Shell) -> None:
    """X08: who changed what, also where no program of ours did."""
    file = shell.put("tea.md", TEA)
    assert shell("list").code == 0
    file.write_text(TEA + "Also black tea.\n")
    (entry,) = shell("history", "--json", "--diff").values
    assert (entry["path"], entry["action"], entry["origin"]) == ("tea.md", "edit", "outside")
    assert "+Also black tea." in entry["diff"]
    file.unlink()
    assert [value["action"] for value in shell("history", "tea", "--json").values] == ["delete", "edit"]
    assert shell("undo").code == 0
    assert file.exists()


def test_the_history_tells_which_message_made_a_change_happen(shell: Shell) -> None:
    from tui.__main__ import main

    main(["ask", "--allow-writes", "remember that I live in Hangzhou", "--workdir", str(shell.workdir)])
    shell("list")
    answer = shell("history", "user_profile")
    assert "by the model" in answer.out
    assert "after “remember that I live in Hangzhou”" in answer.out
    (value,) = shell("history", "user_profile", "--json").values
    assert value["message"] == "remember that I live in Hangzhou"
    assert value["origin"] == "model"
    assert len(value["session_id"]) == 8


@pytest.mark.parametrize("target", ["tea.md", "missing.md", "../outside.md", "link.md"])
def test_deleting_a_link_deletes_the_link(shell: Shell, target: str) -> None:
    """X01, X03."""
    shell.put("tea.md", TEA)
    (shell.workdir / "outside.md").write_text("theirs")
    (shell.folder / "link.md").symlink_to(target)
    for_good = shell("delete", "link", "--for-good") if target == "tea.md" else shell("delete", "link")
    assert for_good.out == "Deleted the link link.md; what it leads to is untouched.\n"
    assert not os.path.lexists(shell.folder / "link.md")
    assert shell.tree()["tea.md"] == TEA.encode()
    assert (shell.workdir / "outside.md").read_text() == "theirs"


def test_the_index_is_edited_and_nothing_else(shell: Shell) -> None:
    shell.put("tea.md", TEA)
    shell.put("MEMORY.md", TEA_LINE)
    shell.use_editor("path.write_text(path.read_text() + '- a remark\\n')")
    assert shell("edit", "MEMORY.md").code == 0
    assert shell.tree()["MEMORY.md"].endswith(b"- a remark\n")
    for words in (["delete"], ["delete", "--for-good"], ["pin"], ["disable"]):
        answer = shell(*words[:1], "MEMORY.md", *words[1:])
        assert answer.code == 1
        assert "is the index" in answer.err


@pytest.mark.parametrize(
    "words", [["undo", ""], ["undo", " "], ["history", ""], ["new", ""], ["search", "x", "--limit", "0"]]
)
def test_what_a_script_has_left_empty_is_no_other_request(shell: Shell, words: list[str]) -> None:
    shell.put("tea.md", TEA)
    shell("pin", "tea")
    before = shell.tree()
    with pytest.raises(SystemExit) as stopped:
        shell(*words)
    assert stopped.value.code == 2
    assert shell.tree() == before


@pytest.mark.parametrize(
    ("saved", "reason"), [("b'\\0\\xff'", "NUL characters"), ("b'x' * (1 << 24 | 1)", "larger than 16 MiB")]
)
def test_what_nobody_could_open_again_is_not_saved_and_kept_aside(
    shell: Shell, tmp_path: Path, saved: str, reason: str
) -> None:
    """F23, F25."""
    shell.put("tea.md", TEA)
    shell.use_editor(f"path.write_bytes({saved})")
    answer = shell("edit", "tea")
    assert answer.code == 1
    assert reason in answer.err
    assert "What you wrote is in" in answer.err
    (tmp_path / "nul.txt").write_bytes(b"a\0b")
    assert shell("new", "nul", "--from", str(tmp_path / "nul.txt")).code == 1
    assert shell("edit", "tea", "--from", str(tmp_path / "nul.txt")).code == 1
    assert shell.tree() == {"tea.md": TEA.encode()}
