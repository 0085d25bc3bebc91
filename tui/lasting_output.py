"""Output to a terminal that may go away, as when its window is closed or its connection breaks."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import IO, Any

from textual.driver import Driver


class LastingOutput:
    """Writes to a file as long as it can be written; from then on to nowhere.

    Textual writes in a thread of its own. Where that ended with an error, whoever draws would sooner or later wait for
    it for ever, and nothing could be put in order before the program ends.

    Args:
        file: the terminal.
        when_gone: called once it is found to be gone, in the thread that writes.
    """

    def __init__(self, file: IO[str], when_gone: Callable[[], None]) -> None:
        self._file = file
        self._when_gone = when_gone
        self._is_gone = False

    def write(self, text: str) -> int:
        """Write all of `text`, or nothing; its length."""
        if not self._is_gone:
            try:
                self._file.write(text)
            except OSError:
                self._give_up()
        return len(text)

    def flush(self) -> None:
        """Hand over what is buffered."""
        if not self._is_gone:
            try:
                self._file.flush()
            except OSError:
                self._give_up()

    def fileno(self) -> int:
        """The file's number."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal, still."""
        return not self._is_gone and self._file.isatty()

    def _give_up(self) -> None:
        self._is_gone = True
        # What is in the buffer would be tried again when the interpreter ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._file.fileno())
        os.close(nowhere)
        self._when_gone()


def with_lasting_output(driver: type[Driver]) -> type[Driver]:
    """The driver, but for where it writes to."""

    class LastingDriver(driver):  # type: ignore[valid-type, misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            terminal: Any = self._file  # type: ignore[has-type]
            if not is_terminal(terminal):
                # Textual draws on standard error, which people send elsewhere (`2> log`) or close.
                terminal = sys.__stdout__
            self._file = LastingOutput(terminal, _hang_up)

    return LastingDriver


def _hang_up() -> None:
    """Do what the system does for a program that the terminal controls."""
    if sys.platform != "win32":
        os.kill(os.getpid(), signal.SIGHUP)


def is_terminal(file: IO[str] | None) -> bool:
    """Whether a file is a terminal, and that is still there."""
    return file is not None and os.isatty(file.fileno())
