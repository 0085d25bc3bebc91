"""What is not in order in a folder is told; what can be put right without loss is, and can be undone."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from agent_core.tool.backend import FileInfo
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.lint import Problem
from tests.memory.agentic.books import TEA, TEA_LINE, FailingBackend, book_in, index_of, tree
from tests.memory.agentic.folders import put


async def problems(workdir: Path, **options: object) -> list[tuple[str, str, int, bool]]:
    found = await book_in(workdir).lint(**options)  # type: ignore[arg-type]
    return [(problem.kind, problem.path, problem.line, problem.fixable) for problem in found]


async def test_a_folder_in_order_has_no_problems(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", TEA + "See [home](sub/home.md) and [web](https://example.org/a.md) and [code](src/a.py).\n")
    put(tmp_path, "sub/home.md", "text [tea](../tea.md) [tea](tea.md)")
    put(tmp_path, "MEMORY.md", f"{TEA_LINE}- [Home](sub/home.md)\n- [Web](https://example.org)\n- [Part](#part)\n")
    assert await problems(tmp_path) == []
    assert await problems(tmp_path / "nothing") == []


async def test_every_kind_of_problem_is_told(tmp_path: Path) -> None:
    """L01, L02, L06, L12, L13, F06, F22, F23, F25, X03."""
    (tmp_path / "secret.md").write_text("x")
    put(tmp_path, "pic.png", b"\x89PNG\0")
    put(tmp_path, "bad header.md", "---\nname: a: b\n---\nx\n\nsee [gone](not there.md)\n")
    put(tmp_path, "binary.md", b"\x89PNG\0")
    put(tmp_path, "latin.md", b"caf\xe9 and this password: " + b"hunter22")
    put(tmp_path, "huge.md", "line\n" * 300_000)
    put(tmp_path, "one.md", TEA)
    put(tmp_path, "two.md", TEA)
    put(tmp_path, "off.md", "---\ndisabled: true\n---\n")
    put(tmp_path, "sub/MEMORY.md", "nested")
    (tmp_path / "Memory/out.md").symlink_to("../secret.md")
    os.utime(tmp_path / "Memory/one.md", (1, 1))
    lines = [
        "- [gone](gone%20away.md)",
        "- [pic](pic.png)",
        "- [up](../secret.md)",
        "- [bad](bad header.md), [bad again](bad%20header.md)",
        f"- [Latin](latin.md) — {'long ' * 60}",
        "- [One](one.md)", "- [Two](two.md)", "- [Huge](huge.md)", "- [Nested](sub/MEMORY.md)",
    ]  # fmt: skip
    put(tmp_path, "MEMORY.md", "\n".join(lines))
    assert await problems(tmp_path, max_tokens=100) == [
        ("broken link", "MEMORY.md", 1, True),
        ("broken link", "MEMORY.md", 2, False),
        ("leads outside", "MEMORY.md", 3, False),
        ("duplicate", "MEMORY.md", 4, False),
        ("long line", "MEMORY.md", 5, False),
        ("index cut", "MEMORY.md", 5, False),
        ("broken link", "MEMORY.md", 9, False),
        ("header", "bad header.md", 0, False),
        ("broken link", "bad header.md", 6, False),
        ("encoding", "binary.md", 0, False),
        ("too large", "huge.md", 0, False),
        ("encoding", "latin.md", 0, False),
        ("secret", "latin.md", 1, False),
        ("duplicate", "one.md", 0, False),
        ("leads outside", "out.md", 0, False),
        ("nested index", "sub/MEMORY.md", 0, False),
    ]


async def test_no_secret_is_repeated(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "password: " + "hunter22")
    assert "hunter22" not in repr(await book_in(tmp_path).lint())


async def test_what_the_instructions_say_already_is_told(tmp_path: Path) -> None:
    """L12."""
    put(tmp_path, "a.md", "---\nname: rule\n---\nAlways answer  in short sentences.\n")
    put(tmp_path, "MEMORY.md", "- [a](a.md)\n")
    found = await book_in(tmp_path).lint(instructions="Be kind.\nalways answer in short sentences. Else ask.")
    assert [(problem.kind, problem.text) for problem in found] == [
        ("duplicate", "the instructions of the agent say this already")
    ]


async def test_a_folder_that_cannot_be_listed_is_a_problem_and_no_error(tmp_path: Path) -> None:
    class Refusing(FailingBackend):
        async def list_dir(self, path: str) -> list:
            if path.endswith("sub"):
                raise PermissionError(13, "Permission denied", path)
            return list(await super().list_dir(path))

    put(tmp_path, "sub/a.md", "a")
    found = await book_in(tmp_path, Refusing()).lint()
    assert [problem.kind for problem in found] == ["unreadable"]


async def test_mending_adds_missing_lines_and_removes_links_to_nothing(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", TEA)
    put(tmp_path, "sub/the brief.md", "text")
    before = "# Mine\r\n- [gone](gone.md) — x\r\nSee [this](gone.md) or [pic](pic.png).\r\n"
    put(tmp_path, "pic.png", "pic")
    put(tmp_path, "MEMORY.md", before)
    book = book_in(tmp_path)
    files = {name: data for name, data in tree(tmp_path).items() if name != "MEMORY.md"}
    entries = await book.mend(await book.lint())
    assert index_of(tmp_path) == (
        "# Mine\r\nSee this or [pic](pic.png).\r\n"
        "- [the brief](sub/the%20brief.md)\r\n- [Tea](tea.md) — likes oolong\r\n"
    )
    assert {name: data for name, data in tree(tmp_path).items() if name != "MEMORY.md"} == files
    assert [problem for problem in await book.lint() if problem.fixable] == []
    await book.undo(entries[0].id)
    assert index_of(tmp_path) == before


async def test_mending_loses_no_example_and_no_sentence(tmp_path: Path) -> None:
    """A link in code or in a comment need not lead anywhere; words that a line goes on with are kept."""
    examples = (
        "```markdown\n- [t](some.md) — hook\n```\n~~~\n```\n- [t](some.md)\n~~~\n"
        "<!-- one a line:\n- [t](some.md)\n-->\nWrite `[t](some.md)`.\n"
    )
    put(tmp_path, "tea.md", "text")
    put(
        tmp_path,
        "MEMORY.md",
        f"```\n- [tea](tea.md)\n```\n{examples}- [t](some.md) — gone\n- [u](gone.md) lives in Ulm\n",
    )
    book = book_in(tmp_path)
    found = await book.lint()
    assert [(problem.kind, problem.line) for problem in found] == [("broken link", 15), ("broken link", 16)]
    await book.mend(found)
    assert index_of(tmp_path) == f"```\n- [tea](tea.md)\n```\n{examples}- u lives in Ulm\n"
    assert await book.lint() == []


async def test_only_what_was_asked_for_is_mended_and_only_if_it_still_is_a_problem(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "- [a](a.md)\n- [b](b.md)\n")
    book = book_in(tmp_path)
    found = await book.lint()
    put(tmp_path, "a.md", "there now")
    assert await book.mend(found[:1]) == ()
    assert index_of(tmp_path) == "- [a](a.md)\n- [b](b.md)\n"
    assert await book.mend([Problem("header", "a.md", 0, "x")]) == ()
    assert await book.mend([]) == ()


async def test_an_index_is_made_for_a_folder_that_has_none(tmp_path: Path) -> None:
    put(tmp_path, "tea.md", TEA)
    book = book_in(tmp_path)
    await book.mend(await book.lint())
    assert index_of(tmp_path) == TEA_LINE


async def test_a_link_that_no_file_can_be_behind_is_broken_or_leads_outside(tmp_path: Path) -> None:
    """L02: a name too long for the disk, a path too long for any, a NUL, a loop, half a character."""
    (tmp_path / "Memory").mkdir()
    (tmp_path / "Memory/loop").symlink_to("loop")
    targets = ["a" * 300, f"{'é' * 200}.md", "a/" * 300_000, "a%00b.md", "loop/a.md", "%ED%A0%80.md", "MEMORY.md/a.md"]
    put(tmp_path, "MEMORY.md", "\n".join(f"- [x]({target})" for target in targets))
    put(tmp_path, "a.md", f"[x]({'a' * 300}.md) [y](loop/b.md)")
    found = [problem for problem in await problems(tmp_path) if problem[0] in ("broken link", "leads outside")]
    assert [(path, line) for _, path, line, _ in found] == [
        *(("MEMORY.md", number) for number in range(1, len(targets) + 1)),
        ("a.md", 1),
        ("a.md", 1),
    ]
    assert ("broken link", "MEMORY.md", 1, True) in found


async def test_what_cannot_be_looked_at_behind_a_link_is_a_problem_and_no_error(tmp_path: Path) -> None:
    class Refusing(LocalBackend):
        async def stat(self, path: str) -> FileInfo | None:
            if path.endswith("kept.md"):
                raise PermissionError(errno.EACCES, "Permission denied", path)
            return await super().stat(path)

    put(tmp_path, "MEMORY.md", "- [x](shut/kept.md)")
    (problem,) = await book_in(tmp_path, Refusing()).lint()
    assert (problem.kind, problem.fixable) == ("broken link", False)
    assert "Permission denied" in problem.text


async def test_names_that_only_look_the_same_get_a_line_each_and_no_more(tmp_path: Path) -> None:
    for name in ("caf\u00e9.md", "cafe\u0301.md", "\u2126.md", "\u03a9.md"):
        put(tmp_path, name, f"about {name!a}")
    book = book_in(tmp_path)
    await book.mend(await book.lint())
    assert await book.lint() == []
    assert len(index_of(tmp_path).splitlines()) == 4
    for path in ("caf\u00e9.md", "cafe\u0301.md"):
        await book.delete(path)
        assert await book.lint() == []
