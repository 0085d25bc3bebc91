"""A memory in `$EDITOR`, in a real terminal: the editor has the terminal, and the program has it back afterwards."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.terminal import Terminal

TEA = "---\nname: Tea\ndescription: likes oolong more than green tea\ntype: user\n---\n\nLikes oolong.\n"
EDITOR = """
import sys
from pathlib import Path
path = Path(sys.argv[1])
print("EDITING", path.name, flush=True)
line = input("line to add: ")
path.write_text(path.read_text() + line + "\\n")
print("WRITTEN", flush=True)
sys.exit(int(input("status: ")))
"""


@pytest.fixture
def tea(workdir: Path) -> Path:
    file = workdir / "Memory" / "tea.md"
    file.parent.mkdir(parents=True)
    file.write_text(TEA)
    return file


@pytest.fixture
def editor(tmp_path: Path) -> str:
    """The command of an editor that asks for a line to add."""
    script = tmp_path / "my editor.py"
    script.write_text(EDITOR)
    return shlex.join([sys.executable, str(script)])


def opened(start: Start, editor: str) -> Terminal:
    terminal = start(VISUAL="", EDITOR=editor)
    terminal.wait_for("ready")
    terminal.press("F5")
    terminal.wait_for("1 memory file")
    terminal.press("E")
    terminal.wait_for("EDITING tea.md", "line to add:")
    return terminal


def test_what_is_written_there_is_saved_and_the_terminal_is_the_programs_again(
    start: Start, tea: Path, editor: str
) -> None:
    terminal = opened(start, editor)
    assert "alternate_on=0 mouse_any_flag=0" in terminal.flags()
    assert "F5 Index" not in terminal.screen()
    terminal.say("Two cups, no sugar.")
    terminal.wait_for("WRITTEN")
    terminal.say("0")
    terminal.wait_for("F5 Index", "tea.md is saved")
    assert "alternate_on=1" in terminal.flags()
    assert "mouse_any_flag=1" in terminal.flags()
    assert tea.read_text() == f"{TEA}Two cups, no sugar.\n"
    terminal.press("Enter")
    terminal.wait_for("Two cups, no sugar.")
    terminal.press("Escape", "F2")
    terminal.say("what do I like?")
    terminal.wait_for("oolong", "ready")
    terminal.press("C-q")
    assert terminal.exit_code() == 0
    assert terminal.flags() == "alternate_on=0 mouse_any_flag=0 mouse_sgr_flag=0 keypad_flag=0 keypad_cursor_flag=0"


def test_after_an_editor_that_failed_nothing_is_saved_without_being_asked(start: Start, tea: Path, editor: str) -> None:
    terminal = opened(start, editor)
    terminal.say("Half a thought")
    terminal.wait_for("WRITTEN")
    terminal.say("3")
    terminal.wait_for("Not saved yet", "ended with 3", "Half a thought")
    assert tea.read_text() == TEA
    terminal.press("Escape")
    terminal.wait_for("throw the changes away")
    terminal.press("y")
    terminal.wait_for("1 memory file")
    assert tea.read_text() == TEA


def test_a_signal_keeps_what_was_written_in_the_editor_by_then(
    start: Start, tea: Path, editor: str, home: Path
) -> None:
    terminal = opened(start, editor)
    terminal.say("Half a thought")
    terminal.wait_for("WRITTEN")
    terminal.signal(signal.SIGTERM)
    assert terminal.exit_code() == 128 + signal.SIGTERM
    assert "tea.md was not saved. What you wrote is in" in terminal.screen()
    (kept,) = (home / "data/mnemoscope/drafts").glob("*/tea.md")
    assert kept.read_text() == f"{TEA}Half a thought\n"
    assert tea.read_text() == TEA
    assert "alternate_on=0 mouse_any_flag=0" in terminal.flags()


def test_ctrl_c_is_for_the_editor(start: Start, tea: Path, editor: str) -> None:
    terminal = opened(start, editor)
    terminal.press("C-c")
    terminal.wait_for("F5 Index", "The editor")
    assert tea.read_text() == TEA
    terminal.press("C-q")
    assert terminal.exit_code() == 0
