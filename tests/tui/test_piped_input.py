"""T23: standard input is read where there is some, and nobody waits for what never comes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest

from tui.piped_input import NothingCame, read_piped


@pytest.fixture
def writing(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The end to write to of a pipe that is standard input, and that may be closed by the test; nobody is patient."""
    reading, writing = os.pipe()
    monkeypatch.setattr("tui.piped_input._PATIENCE", 0.0)
    with open(reading) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield writing


def test_what_is_awaited_is_read_to_its_end_however_late_it_comes(writing: int) -> None:
    with ThreadPoolExecutor() as pool:
        read = pool.submit(read_piped, awaited=True)
        os.write(writing, b"a\n")
        os.write(writing, "你".encode()[:2])
        assert not read.done()
        os.write(writing, "你".encode()[2:])
        os.close(writing)
        assert read.result() == "a\n你"


def test_what_is_not_awaited_and_silent_is_given_up(writing: int) -> None:
    with pytest.raises(NothingCame):
        read_piped(awaited=False)
    os.close(writing)


def test_a_standard_input_that_cannot_be_read_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull, "w") as only_written:
        monkeypatch.setattr("sys.stdin", only_written)
        assert read_piped(awaited=True) == ""
    monkeypatch.setattr("sys.stdin", None)
    assert read_piped(awaited=True) == ""


def test_what_is_none_of_the_systems_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("typed somewhere"))
    assert read_piped(awaited=False) == ""
