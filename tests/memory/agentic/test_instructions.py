"""What the model is told about its memory."""

from __future__ import annotations

from itertools import combinations

import pytest

from agent_core.tokens import estimate_tokens
from memory.agentic.instructions import memory_instructions

FOLDER = "/home/me/{work} Memory"
INDEX = f"{FOLDER}/MEMORY.md"
ALL = ("Read", "Write", "Edit")


def told(*tools: str, custom: str | None = None) -> str:
    return memory_instructions(FOLDER, INDEX, tools, custom)


@pytest.mark.parametrize("tools", [subset for size in range(4) for subset in combinations(ALL, size)])
def test_only_tools_that_are_held_are_named(tools: tuple[str, ...]) -> None:
    text = told(*tools, "Bash")
    assert {name for name in ALL if f"`{name}`" in text} == set(tools)
    assert "Bash" not in text


@pytest.mark.parametrize("custom", [None, "", "Remember what matters."])
def test_the_two_paths_stand_on_lines_of_their_own(custom: str | None) -> None:
    """L09."""
    lines = told(*ALL, custom=custom).split("\n")
    assert lines.count(f"Memory folder: {FOLDER}") == 1
    assert lines.count(f"Index file: {INDEX}") == 1


def test_the_form_of_a_memory_is_taught() -> None:
    text = told(*ALL)
    for part in [
        "\n---\nname: ",
        "\ndescription: ",
        "\ntype: user, feedback, project or reference\n---\n",
        "**Why:**",
        "**How to apply:**",
        "- [Title](file.md) — hook",
        "outdated",
    ]:
        assert part in text


def test_without_a_tool_to_write_the_model_is_told_to_say_so() -> None:
    assert "say that you cannot" in told("Read")
    assert "say that you cannot" not in told("Write")
    assert "name: " not in told("Read")


def test_they_are_short() -> None:
    assert estimate_tokens(told(*ALL)) <= 700


def test_a_text_of_ones_own_takes_the_place_of_ours() -> None:
    text = told(*ALL, custom="Remember what matters.")
    assert text == f"Remember what matters.\n\nMemory folder: {FOLDER}\nIndex file: {INDEX}"
