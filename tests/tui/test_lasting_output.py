"""Output to a terminal that goes away."""

from __future__ import annotations

import os
import pty
import sys

import pytest

from tui.lasting_output import LastingOutput

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")


def test_what_is_written_after_the_terminal_is_gone_goes_nowhere() -> None:
    master, slave = pty.openpty()
    told: list[bool] = []
    with os.fdopen(slave, "w") as file:
        output = LastingOutput(file, lambda: told.append(True))
        output.write("seen")
        output.flush()
        assert os.read(master, 10) == b"seen"
        assert output.isatty()
        os.close(master)
        for _ in range(3):
            assert output.write("x" * 100_000) == 100_000
            output.flush()
        assert not output.isatty()
    assert told == [True]
