"""What was typed before."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tui.prompt_history import MAX_CHARACTERS, MAX_ENTRIES, PromptHistory


def back(history: PromptHistory, shown: str = "") -> list[str]:
    """Everything that comes by pressing Up."""
    found = []
    while (text := history.older(shown)) is not None:
        found.append(text)
    return found


def test_prompts_come_back_newest_first_and_then_what_was_being_typed(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history")
    history.add("one")
    history.add("two\nlines")
    assert history.older("half") == "two\nlines"
    assert history.older("two\nlines") == "one"
    assert history.older("one") is None
    assert history.newer("one") == "two\nlines"
    assert history.newer("two\nlines") == "half"
    assert history.newer("half") is None


def test_what_was_written_and_left_for_another_prompt_is_not_lost(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history")
    for text in ("one", "two\x1b"):
        history.add(text)
    assert history.older("half") == "two\x1b"
    assert history.unsent("two␛") == "half"
    assert history.older("two, changed") == "one"
    assert history.unsent("one") == "half\ntwo, changed"
    assert history.newer("one") == "two, changed"
    assert history.unsent("two, changed again") == "half\ntwo, changed again"
    history.add("two, changed again")
    assert history.unsent("") == ""
    assert back(history) == ["two, changed again", "half", "two\x1b", "one"]


def test_they_are_there_the_next_time_and_nobody_else_may_read_them(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "history"
    PromptHistory(path).add("日本語 \u2028 [/x]")
    assert back(PromptHistory(path)) == ["日本語 \u2028 [/x]"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_same_again_and_nothing_are_not_remembered(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history")
    for text in ("one", "one", " \n", ""):
        history.add(text)
    assert back(history) == ["one"]


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'"one"\n{"no": "text"}\n\xff\n"tor')
    PromptHistory(path).add("two")
    assert back(PromptHistory(path)) == ["two", "one"]


def test_a_line_nested_too_deeply_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text("[" * 100_000 + '\n"one"\n')
    assert back(PromptHistory(path)) == ["one"]


def test_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    """T20."""
    history = PromptHistory(tmp_path / "history")
    history.add("hi \ud83d")
    assert back(PromptHistory(tmp_path / "history")) == ["hi \ufffd"]


def test_a_huge_prompt_is_remembered_but_not_written(tmp_path: Path) -> None:
    path = tmp_path / "history"
    history = PromptHistory(path)
    history.add("x" * (MAX_CHARACTERS + 1))
    assert len(back(history)) == 1
    assert not path.exists()


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("".join(f'"{number}"\n' for number in range(MAX_ENTRIES + 5)))
    found = back(PromptHistory(path))
    assert len(found) == MAX_ENTRIES
    assert found[0] == str(MAX_ENTRIES + 4)


def test_of_a_huge_file_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b"".join(b'"%06d%s"\n' % (number, b"x" * 5000) for number in range(900)))
    found = back(PromptHistory(path))
    assert found[0].startswith("000899")
    assert all(len(text) == 5006 for text in found)


def test_a_file_that_cannot_be_used_is_told_and_costs_nothing_else(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    history = PromptHistory(blocked / "history")
    history.add("one")
    assert str(blocked) in history.problem
    assert back(history) == ["one"]


def test_without_a_file_it_is_kept_in_this_process() -> None:
    history = PromptHistory()
    history.add("one")
    assert back(history) == ["one"]
    assert not history.problem


def test_a_fifo_in_place_of_the_file_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "history")
    history = PromptHistory(tmp_path / "history")
    assert history.older("") is None
    assert history.problem.endswith("not a regular file")
    history.add("one")
    assert history.problem.endswith("cannot be written: not a regular file")
    assert history.forget(["one"]) == 1
    assert stat.S_ISFIFO((tmp_path / "history").stat().st_mode)
