"""`mnemoscope memory list`, `show`, `search` and `lint`, over folders as people have them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.memory_command import TEA, TEA_LINE, Shell

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def test_a_folder_that_is_not_there_has_no_memories_and_is_not_made(shell: Shell) -> None:
    answer = shell("list")
    assert answer == (0, f"There are no memories in {shell.folder} yet.\n", "")
    assert not shell.workdir.exists()
    assert shell("list", "--json") == (0, "", "")


def test_a_list_tells_of_each_memory_what_a_person_needs(shell: Shell) -> None:
    shell.put("tea.md", TEA)
    shell.put("sub/plan.md", "---\nname: Plan\npinned: true\ntype: project\n---\nFirst line.\n")
    shell.put("MEMORY.md", TEA_LINE)
    answer = shell("list")
    assert (answer.code, answer.err) == (0, "")
    plan = next(line for line in answer.out.splitlines() if line.startswith("sub/plan.md"))
    for word in ("project", "from outside", "[pinned, not in the index]", "Plan: First line."):
        assert word in plan
    (listed,) = [value for value in shell("list", "--json").values if value["path"] == "tea.md"]
    assert {key: listed[key] for key in ("name", "description", "type", "origin", "badges", "in_index", "size")} == {
        "name": "Tea",
        "description": "likes oolong more than green tea",
        "type": "user",
        "origin": "outside",
        "badges": [],
        "in_index": True,
        "size": len(TEA),
    }
    assert listed["file"] == str(shell.folder / "tea.md")
    assert isinstance(listed["modified"], float)


@pytest.mark.parametrize(
    ("content", "badge", "shown"),
    [
        (b"\xef\xbb\xbf" + TEA.encode(), None, "Likes oolong."),
        (TEA.replace("\n", "\r\n").encode() + b"\r\nmore\n", None, "Likes oolong."),
        (b"---\nname: 2026-03-05\ndescription: 1.0\ntype: true\n---\nbody\n", None, "2026-03-05 (true"),
        (b"---\nname: [open\ndescription: Plan: move (was: x)\n---\nbody\n", "the header", "Plan: move (was: x)"),
        (b"---\nname: !!python/object/apply:os.getcwd []\n---\nbody\n", None, "!!python/object/apply:os.getcwd"),
        (b"caf\xe9\n", "not UTF-8", "caf\ufffd"),
        (b"x\x1b[2Jy\x1b]0;hi\x07", None, "x␛[2Jy␛]0;hi␇"),
    ],
    ids=["F01", "F26", "F07", "F06", "F17", "F22", "T06"],
)
def test_what_is_odd_in_a_file_costs_itself_only(shell: Shell, content: bytes, badge: str | None, shown: str) -> None:
    """F01, F06, F07, F17, F22, F26: shown as far as it can be, with a badge, and never changed."""
    file = shell.put("odd.md", content)
    shell.put("other.md", "other\n")
    answer = shell("show", "odd")
    assert (answer.code, answer.err) == (0, "")
    assert shown in answer.out
    assert "\x1b" not in answer.out
    assert (badge or "[") in answer.out
    assert {value["path"] for value in shell("list", "--json").values} == {"odd.md", "other.md"}
    assert file.read_bytes() == content


def test_pictures_are_listed_and_nothing_of_them_is_printed(shell: Shell) -> None:
    """F25."""
    shell.put("pic.md", PNG)
    assert "[binary]" in shell("list").out
    answer = shell("show", "pic")
    assert answer.code == 1
    assert answer.err == "mnemoscope: pic.md is no text: nothing of it can be shown.\n"
    assert "IHDR" not in answer.out


def test_a_huge_file_is_shown_from_its_beginning_and_changed_by_nothing(shell: Shell) -> None:
    """F23: one line of 200 MB, sparse where it can be."""
    file = shell.put("huge.md", b"a" * 2_000_000)
    with file.open("ab") as end:
        end.truncate(200 * 2**20)
    answer = shell("show", "huge")
    assert answer.code == 0
    assert "too large" in answer.out
    assert len(answer.out) < 1_100_000
    for words in (["edit", "huge", "--from", str(file)], ["pin", "huge"], ["rename", "huge", "small.md"]):
        refused = shell(*words)
        assert refused.code == 1
        assert "too large" in refused.err
    assert shell("lint", "--fix").code == 1
    assert file.stat().st_size == 200 * 2**20


def test_links_that_leave_are_listed_and_never_read(shell: Shell) -> None:
    """X03: a link to a file and one to a folder, both outside."""
    outside = shell.workdir / "outside"
    outside.mkdir(parents=True)
    (outside / "secret.md").write_text("secret words")
    shell.folder.mkdir()
    (shell.folder / "leak.md").symlink_to("../outside/secret.md")
    (shell.folder / "out").symlink_to("../outside")
    assert "link leads outside" in shell("list").out
    for name in ("leak", "leak.md", "out", "out/secret.md", "../outside/secret.md", str(outside / "secret.md")):
        answer = shell("show", name)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("mnemoscope: ")
    assert "secret words" not in shell("search", "secret", "words").out


def test_a_memory_is_found_by_what_people_call_it(shell: Shell) -> None:
    shell.put("user_profile.md", "---\nname: About me\n---\nA\n")
    shell.put("sub/tea.md", "B\n")
    shell.put("team.md", "C\n")
    for name in ("user_profile.md", "user_profile", "about me", "user_p", "About"):
        assert shell("show", name).out.startswith(str(shell.folder / "user_profile.md"))
    assert shell("show", "tea").out.startswith(str(shell.folder / "sub/tea.md"))
    several = shell("show", "te")
    assert several.code == 1
    assert "te may be any of" in several.err
    assert {"sub/tea.md", "team.md"} <= set(several.err.replace(":", ",").replace(",", " ").split())
    assert (
        shell("show", "usr_profil").err == "mnemoscope: There is no memory usr_profil. Near to it: user_profile.md.\n"
    )
    assert shell("show", "nothing like it").code == 1


def test_the_index_says_what_of_it_goes_into_prompts(shell: Shell) -> None:
    """L05, L06: whole, cut, and not there."""
    answer = shell("show", "MEMORY.md")
    assert answer.code == 1
    assert answer.err == f"mnemoscope: There is no index: none at {shell.folder}/MEMORY.md.\n"
    shell.put("MEMORY.md", TEA_LINE * 10)
    assert "Loaded 10 of 10 lines into prompts" in shell("show", "MEMORY").out
    lines = [f"- [Memory {n}](m{n}.md) — {'about this and that ' * 4}\n" for n in range(1, 239)]
    shell.put("MEMORY.md", "".join(lines))
    (value,) = shell("show", "MEMORY.md", "--json").values
    assert value["lines"] == 238
    assert value["cut_line"] == value["injected_lines"] + 1 < 238
    text = shell("show", "MEMORY.md").out
    assert f"Loaded {value['injected_lines']} of 238 lines" in text
    mark = f"──── not in prompts: lines {value['cut_line']} to 238 ────"
    assert text.index(mark) < text.index("m238.md")


def test_a_search_gives_scores_and_reasons_best_first(shell: Shell) -> None:
    shell.put("tea.md", TEA)
    shell.put("city.md", "---\nname: City\ndescription: lives in Hangzhou\n---\n住在杭州。\n")
    answer = shell("search", "oolong", "tea")
    assert answer.code == 0
    assert (
        answer.out.splitlines()[0].endswith("tea.md  Tea: likes oolong more than green tea") or "tea.md" in answer.out
    )
    first = shell("search", "杭州", "--json").values[0]
    assert first["path"] == "city.md"
    assert first["is_related"]
    assert 0 < first["score"] <= 1
    assert "杭州" in first["why"]
    assert len(shell("search", "likes", "lives", "--limit", "1", "--json").values) == 1


def test_lint_names_places_and_ends_with_1_until_all_is_mended(shell: Shell) -> None:
    """L01, L02: what is wrong with the index and the files, and the part of it that can be mended."""
    shell.put("tea.md", TEA)
    shell.put("MEMORY.md", "- [Gone](gone.md)\n")
    answer = shell("lint")
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "MEMORY.md:1: broken link: gone.md does not exist",
        "tea.md: orphan: no line of MEMORY.md leads to it",
        "2 problems can be mended without losing anything: add --fix.",
    ]
    mended = shell("lint", "--fix", "--json")
    assert mended.code == 0
    assert [value["is_fixed"] for value in mended.values] == [True, True]
    assert shell.tree()["MEMORY.md"] == TEA_LINE.encode()
    assert shell("lint") == (0, "All is in order.\n", "")
    shell.put("MEMORY.md", TEA_LINE + "- [Out](../x.md)\n- [Gone](gone.md)\n")
    left = shell("lint", "--fix")
    assert left.code == 1
    assert "leads outside: ../x.md" in left.out
    assert "gone.md does not exist (mended)" in left.out


def run_without_rights(*words: str) -> subprocess.CompletedProcess[str]:
    """The command as a user who has no more rights than files give; root has to let go of them."""
    command = [sys.executable, "-m", "tui", "memory", *words]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environ, timeout=60, check=False)


needs_rights = pytest.mark.skipif(
    sys.platform == "win32" or (os.geteuid() == 0 and shutil.which("setpriv") is None),
    reason="root reads everything, and there is no setpriv to let go of that",
)


@needs_rights
def test_a_folder_that_cannot_be_read_is_told_and_the_rest_is_listed(shell: Shell) -> None:
    shell.put("tea.md", TEA)
    locked = shell.put("locked/a.md", "a").parent
    locked.chmod(0)
    try:
        for words in (["list"], ["search", "oolong"]):
            answer = run_without_rights(*words, "--workdir", str(shell.workdir))
            assert answer.returncode == 1
            assert "tea.md" in answer.stdout
            assert "locked/ cannot be listed: Permission denied" in answer.stderr
    finally:
        locked.chmod(0o700)


@needs_rights
def test_a_read_only_folder_can_be_looked_at_and_says_why_nothing_else(shell: Shell) -> None:
    """P13."""
    shell.put("tea.md", TEA)
    for folder in (shell.workdir, shell.folder):
        folder.chmod(0o555)
    try:
        looked = run_without_rights("show", "tea", "--workdir", str(shell.workdir))
        assert (looked.returncode, "Likes oolong." in looked.stdout) == (0, True)
        assert looked.stderr.count("\n") == 1
        for words in (["pin", "tea"], ["delete", "tea"], ["rename", "tea", "x"], ["delete", "tea", "--for-good"]):
            refused = run_without_rights(*words, "--workdir", str(shell.workdir))
            assert refused.returncode == 1
            assert refused.stderr.startswith("mnemoscope: ")
            assert refused.stderr.count("\n") == 1
    finally:
        for folder in (shell.workdir, shell.folder):
            folder.chmod(0o755)
    assert shell.tree() == {"tea.md": TEA.encode()}


@pytest.mark.parametrize("environ", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}])
def test_json_keeps_every_character_whatever_the_locale(shell: Shell, environ: dict[str, str]) -> None:
    import json

    shell.put("城市.md", "---\nname: 城市\n---\n住在杭州 🙂\n")
    answer = subprocess.run(
        [sys.executable, "-m", "tui", "memory", "show", "城市", "--json", "--workdir", str(shell.workdir)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        timeout=60,
        check=True,
    )
    assert json.loads(answer.stdout)["text"].endswith("住在杭州 🙂\n")


@pytest.mark.parametrize("at", ["1e300", "NaN", "-1e300"])
def test_a_time_that_no_calendar_has_costs_itself_only(shell: Shell, at: str) -> None:
    os.utime(shell.put("tea.md", TEA), (1e12, 1e12))
    assert shell("list").code == 0
    shell("pin", "tea")
    journal = shell.workdir / ".mnemoscope/Memory/journal.jsonl"
    journal.write_text(f'{{"id": "odd", "at": {at}, "path": "tea.md", "action": "edit", "origin": "user"}}\n')
    shown = shell("history")
    assert shown.code == 0
    assert "unknown" in shown.out


def test_wrong_usage_ends_with_2(shell: Shell) -> None:
    for words in ([], ["nonsense"], ["show"], ["search"], ["list", "--limit", "0"], ["search", "a", "--limit", "0"]):
        with pytest.raises(SystemExit) as ended:
            shell(*words)
        assert ended.value.code == 2


@pytest.mark.parametrize("place", ["memory", "."])
def test_memories_that_another_program_keeps_beside_are_pointed_to(shell: Shell, place: str) -> None:
    """L05, L09: an empty folder says where the memories are that one may have meant."""
    theirs = (shell.workdir / place).resolve()
    theirs.mkdir(parents=True, exist_ok=True)
    (theirs / "MEMORY.md").write_text("- [a](a.md)\n")
    (theirs / "a.md").write_text("a")
    command = f"mnemoscope memory import {theirs}"
    assert shell("list").out.endswith(f"There are some in {theirs}. To have them here: {command}\n")
    assert shell("import", str(theirs)).code == 0
    assert "import" not in shell("list").out
