"""The memory folder in the hands of a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_core.errors import StorageError
from memory.agentic.compose import compose
from memory.agentic.names import name_for
from tests.memory.agentic.books import TEA, book_in, tree
from tests.memory.agentic.folders import put


@pytest.mark.parametrize("name", ["sub/tea.md", "sub/tea", "tea", "Tea", "GREEN TEA"])
async def test_a_memory_is_found_by_what_people_call_it(tmp_path: Path, name: str) -> None:
    put(tmp_path, "sub/tea.md", "---\nname: Green tea\n---\ntext")
    put(tmp_path, "other.md", "x")
    assert await book_in(tmp_path).find(name) == "sub/tea.md"


async def test_a_name_that_is_none_or_not_the_only_one_is_said_to_be(tmp_path: Path) -> None:
    put(tmp_path, "a/x.md", "1")
    put(tmp_path, "b/x.md", "2")
    with pytest.raises(StorageError, match=r"may be any of .*x\.md"):
        await book_in(tmp_path).find("x")
    with pytest.raises(StorageError, match="There is no memory"):
        await book_in(tmp_path).show("y")
    with pytest.raises(StorageError):
        await book_in(tmp_path).show("../../etc/passwd")


async def test_showing_tells_what_is_odd(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"\xef\xbb\xbfcaf\xe9")
    shown = await book_in(tmp_path).show("a")
    assert (shown.text, shown.badges, shown.data) == ("caf\ufffd", ("not UTF-8",), b"\xef\xbb\xbfcaf\xe9")


async def test_search_finds_disabled_memories_too(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    await book.create(TEA)
    await book.create("about something else", "other.md")
    await book.disable("tea.md")
    assert [found.file.relative for found in await book.search("oolong", 1)] == ["tea.md"]


async def test_concerns_are_known_before_anything_is_written(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    assert await book.concerns("new.md", "password: " + "hunter22") == ["line 1 holds what looks like a password"]
    assert await book.concerns("new.md", "text") == []
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("body", ["text", "---\nrule", "line\n\n---\n"])
def test_a_memory_is_composed_so_that_it_reads_as_given(body: str) -> None:
    text = compose("Tea: #1", 'says "yes"', "user", body)
    assert text.endswith(f"\n\n{body.strip()}\n")
    assert text.startswith("---\nname: 'Tea: #1'\n")
    assert compose("", "", "", "only text") == "only text\n"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Likes Oolong: tea!", "likes_oolong_tea.md"), ("喜欢乌龙茶", "喜欢乌龙茶.md"), ("../../x", "x.md"),
        ("!!", "memory_1.md"), ("CON", "con_1.md"), ("MEMORY", "memory_1.md"), ("a/b\\c", "a_b_c.md"),
        ("taken", "taken_2.md"), ("x" * 500, "x" * 60 + ".md"), ("\ud83d", "memory_1.md"),
    ],
)  # fmt: skip
def test_a_file_is_named_after_the_title(title: str, name: str) -> None:
    assert name_for(title, ["Taken.md"]) == name
