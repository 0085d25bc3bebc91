"""Paths from the memory folder, on systems that write them in their own way."""

from __future__ import annotations

import os

import pytest

from memory.agentic.folder_paths import path_in, relative_to, split


@pytest.mark.parametrize("root", ["/w/Memory", "/Memory", "/"])
def test_with_slashes(root: str) -> None:
    path = path_in(root, "sub/a.md")
    assert path == f"{root.rstrip('/')}/sub/a.md"
    assert relative_to(root, path) == "sub/a.md"


def test_with_backslashes_where_the_system_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sep", "\\")
    assert path_in("C:\\w\\Memory", "sub/a.md") == "C:\\w\\Memory\\sub\\a.md"
    assert relative_to("C:\\w\\Memory", "C:\\w\\Memory\\sub\\a.md") == "sub/a.md"
    assert split("C:\\w\\Memory") == ("C:\\w", "Memory")
    # A store elsewhere has its own way.
    assert path_in("/w/Memory", "sub/a.md") == "/w/Memory/sub/a.md"


def test_the_folder_above() -> None:
    assert split("/w/Memory") == ("/w", "Memory")
    assert split("/Memory/") == ("/", "Memory")
