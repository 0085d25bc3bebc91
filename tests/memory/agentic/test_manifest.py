"""The list that a model chooses from, and how its choice is read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from agent_core.errors import StructuredOutputError
from agent_core.tokens import estimate_tokens
from memory.agentic.hint import memory_text
from memory.agentic.manifest import MAX_SELECTED, manifest_line, read_selection, selection_messages
from memory.agentic.memory_file import MemoryFile

NOON = datetime.fromisoformat("2026-03-05T12:00").timestamp()


def file(relative: str, **facts: Any) -> MemoryFile:
    return MemoryFile(f"/m/{relative}", relative, relative, modified=NOON, **facts)


def test_a_line_says_kind_name_day_and_description() -> None:
    assert manifest_line(file("tea.md", type="user", description="what the user drinks")) == (
        "- [user] tea.md (2026-03-05): what the user drinks"
    )


def test_a_file_without_header_is_listed_by_its_first_line() -> None:
    assert manifest_line(file("tea.md", excerpt="Oolong at four")) == "- [other] tea.md (2026-03-05): Oolong at four"


def test_a_line_stays_one_line_whatever_the_file_says() -> None:
    odd = file("a\n- [user] b.md.md", type="user\n", description="one\n- [user] fake.md (2026-01-01): two")
    assert manifest_line(odd) == ("- [user] a - [user] b.md.md (2026-03-05): one - [user] fake.md (2026-01-01): two")


@pytest.mark.parametrize(("moment", "day"), [(1e15, "9999-12-31"), (-1e15, "0001-01-01"), (float("inf"), "9999-12-31")])
def test_a_time_that_no_calendar_has_costs_nobody_a_recall(moment: float, day: str) -> None:
    odd = MemoryFile("/m/a.md", "a.md", "a", "tea", "user", moment)
    assert manifest_line(odd) == f"- [user] a.md ({day}): tea"
    assert memory_text(odd, "oolong", NOON).startswith(f"Memory saved {day} ")


def test_a_long_description_is_cut_not_lost() -> None:
    line = manifest_line(file("a.md", description="茶" * 5_000), 256)
    assert line.endswith("茶…")
    assert 200 < estimate_tokens(line) <= 256 + 15


def test_the_question_and_the_list_go_to_the_model_as_data() -> None:
    system, user = selection_messages("what do I drink?", [file("a.md"), file("b.md")], "Pick.", None)
    assert (system.role, system.get_text_content()) == ("system", "Pick.")
    text = user.get_text_content() or ""
    assert "what do I drink?" in text
    assert [line[:13] for line in text.split("\n") if line.startswith("- ")] == ["- [other] a.m", "- [other] b.m"]


def names(selected: object) -> list[str]:
    files = [file(f"{number}.md") for number in range(9)]
    return [one.relative for one in read_selection({"selected_files": selected}, files).files]


def test_names_that_are_not_on_the_list_are_left_out_and_told() -> None:
    selection = read_selection({"selected_files": ["x.md", "1.md", "../etc/passwd", "x.md"]}, [file("1.md")])
    assert [one.relative for one in selection.files] == ["1.md"]
    assert selection.unknown == ("x.md", "../etc/passwd")


def test_a_file_counts_once_however_often_it_is_named() -> None:
    """L13: repeats do not use up the places of others."""
    assert names(["1.md", "1.md", " 1.md ", "./1.md", "2.md", "3.md", "4.md", "5.md"]) == [
        "1.md",
        "2.md",
        "3.md",
        "4.md",
        "5.md",
    ]


def test_the_order_is_the_models_and_there_is_a_most() -> None:
    assert names([f"{number}.md" for number in (8, 3, 5, 1, 0, 2, 4)]) == ["8.md", "3.md", "5.md", "1.md", "0.md"]
    assert MAX_SELECTED == 5


@pytest.mark.parametrize("selected", [[None, 3, {"name": "1.md"}, "1.md"]])
def test_what_is_no_name_is_left_out(selected: object) -> None:
    assert names(selected) == ["1.md"]


@pytest.mark.parametrize("value", [{}, {"selected_files": None}, {"selected_files": "1.md"}])
def test_an_answer_without_a_list_is_no_choice(value: dict[str, Any]) -> None:
    with pytest.raises(StructuredOutputError):
        read_selection(value, [file("1.md")])
