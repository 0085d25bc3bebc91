"""What tests of the program share: a home of their own, and apps that are at rest when they say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import textual.app
import textual.pilot

from tests.tui.idle import wait_for_idle
from tests.tui.memory_command import Shell
from tui.config_file import SETTINGS


@pytest.fixture(scope="session", autouse=True)
def _exact_idleness() -> Iterator[None]:
    """A pilot waits for as long as something is left to be done."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textual.app, "wait_for_idle", wait_for_idle)
        patch.setattr(textual.pilot, "wait_for_idle", wait_for_idle)
        yield


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home folder in which nothing is, and an environment in which nothing is set."""
    for setting in SETTINGS:
        for variable in setting.variables:
            monkeypatch.delenv(variable, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    return home


@pytest.fixture
def config(home: Path) -> Path:
    """The settings file, which is not there yet."""
    path = home / "config" / "mnemoscope" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def shell(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """`mnemoscope memory` over an empty workdir."""
    return Shell(tmp_path / "work", capsys, monkeypatch)
