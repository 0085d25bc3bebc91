"""Addresses of stores, looked at and not opened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tui.config import describe, load_settings
from tui.config_file import ConfigError
from tui.memory_url import anchored, fault, missing_package, without_password

GOOD = (
    "sqlite:///chat.db",
    "sqlite:////srv/chat.db",
    "sqlite://",
    "sqlite+aiosqlite:///chat.db",
    "postgresql://ada:pa:ss@host:5432/db",
    "postgresql+asyncpg://host/db",
    "postgres:///db?host=/run/postgresql",
    "redis://localhost",
    "rediss://user:password@host:6379/0",
    "unix:///run/redis.sock",
)


@pytest.mark.parametrize("url", GOOD)
def test_addresses_that_can_be_used(url: str) -> None:
    assert fault(url) == missing_package(url) == ""


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("chat.db", "sqlite:///FILE"),
        ("/srv/chat.db", "sqlite:///FILE"),
        ("http://localhost", "sqlite:///FILE"),
        ("mysql://u:secret@h/d", "not at 'mysql://u:…@h/d'"),
        ("sqlite:chat.db", "sqlite:///FILE"),
        ("sqlite://chat.db", "three slashes"),
        ("redis://:secret@h:port/0", "cannot be read"),
        ("postgresql://u:secret@h:99999/d", "cannot be read: Port out of range"),
        ("redis://:secret/secret@h:1/0", "cannot be read: its port is no number; in a password, / is written %2F"),
        ("postgresql://u:secret#1@h/d", "store 'postgresql://u:…@h/d' cannot be read"),
        ("http://h/d?password=secret&x=1", "not at 'http://h/d?password=…&x=1'"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_without_its_password(url: str, told: str) -> None:
    assert told in fault(url)
    assert "secret" not in fault(url)


def test_a_package_that_is_missing_is_told_with_the_command_that_installs_it() -> None:
    code = """
import importlib.util, tui.memory_url as urls
urls.find_spec = lambda name: None
for url in ("sqlite:///a", "postgresql://h/d", "redis://h"):
    print(urls.missing_package(url))
"""
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert ["pip install 'mnemoscope[sql]'" in line for line in lines] == [True, True, False]
    assert "pip install 'mnemoscope[redis]'" in lines[2]
    assert "psycopg2_" in missing_package("postgresql+psycopg2_://h/d")
    assert missing_package("postgresql+../x://h/d")


def test_a_password_is_never_shown(home: Path) -> None:
    assert without_password("redis://:secret@h:1/0") == "redis://:…@h:1/0"
    assert without_password("sqlite:///a:b@c.db") == "sqlite:///a:b@c.db"
    assert without_password("redis://:a@secret/b@h:1/0") == "redis://:…@h:1/0"
    assert without_password("redis://h:1/0?password=secret#x") == "redis://h:1/0?password=…#x"
    shown = describe(load_settings({"memory": "postgresql://ada:secret@h/d"}))
    assert "postgresql://ada:…@h/d" in shown
    assert "secret" not in shown


def test_a_relative_file_in_the_settings_is_taken_from_their_folder(home: Path, config: Path) -> None:
    config.write_text('memory = "sqlite:///chat.db"\n')
    assert load_settings().memory == f"sqlite:///{config.parent}/chat.db"
    for url in ("sqlite:////srv/a.db", "sqlite:///~/a.db", "sqlite:///:memory:", "sqlite://", "redis://h/0"):
        assert anchored(url, home) == url


def test_a_wrong_address_is_told_with_where_it_stands(config: Path) -> None:
    config.write_text('\nmemory = "chat.db"\n')
    with pytest.raises(ConfigError, match=r"not at 'chat.db' \(.*config.toml, line 2\)"):
        load_settings()
    with pytest.raises(ConfigError, match="--memory"):
        load_settings({"memory": "nonsense"})
