"""The program in a real terminal, with a home folder of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal
from tests.services import require

Start = Callable[..., Terminal]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder."""
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def workdir(home: Path) -> Path:
    """The usual workdir."""
    return home / "data" / "mnemoscope" / "workdir"


def command(*arguments: str) -> list[str]:
    """The command that starts the program."""
    return [sys.executable, "-m", "tui", *arguments]


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Starts the program with these arguments; `columns` and `rows` give the size, other keywords the environment."""
    terminals: list[Terminal] = []
    tmux = require("tmux")

    def start(*arguments: str, columns: int = 120, rows: int = 40, **environ: str) -> Terminal:
        kept = {name: "" for name in os.environ if name.startswith(("OPENAI_", "MNEMOSCOPE_"))}
        places = {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")}
        variables = {**kept, **places, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **environ}
        terminals.append(Terminal(tmux, command(*arguments), variables, columns, rows))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()
