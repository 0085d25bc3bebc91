"""A pseudo-terminal that keeps every byte that a program writes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

ROOT = Path(__file__).parents[3]
LIMIT = 60.0
"""Seconds after which a test gives up."""
_CONTROLS = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])"
    "|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\udc80-\udcff]"
)
"""Everything that a terminal acts upon, 8-bit forms included, but for newline, return, tab and backspace."""


class PseudoTerminal:
    """Runs one case of `program` in a terminal of its own, or the real program where `arguments` are given.

    Standard error is the terminal too, unless `error_file` is given.
    """

    def __init__(
        self,
        case: str,
        folder: Path,
        environ: Mapping[str, str] | None = None,
        size: tuple[int, int] = (120, 40),
        arguments: Sequence[str] = (),
        error_file: IO[bytes] | None = None,
    ) -> None:
        self.written = bytearray()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self._before = termios.tcgetattr(slave)
        self._slave = slave
        self._handles = [self._master, slave]
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TEXTUAL_ANIMATIONS": "none",
            "PYTHONPATH": str(ROOT),
            **(environ or {}),
        }
        command = ["tui", *arguments] if arguments else ["tests.tui.terminal.program", case, str(folder)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdin=slave, stdout=slave, stderr=error_file or slave, cwd=ROOT, env=environment, start_new_session=True,
        )  # fmt: skip

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """Be gone, as a terminal whose window is closed."""
        for handle in self._handles:
            os.close(handle)
        self._handles.clear()

    def send(self, text: str | bytes) -> None:
        """Send bytes as a keyboard does."""
        os.write(self._master, text.encode() if isinstance(text, str) else text)

    def wait_for(self, text: str) -> None:
        """Read until `text` has been written, wherever on the screen; blanks between its words do not count."""
        wanted = "".join(text.split())
        self.read_until(lambda: wanted in "".join(self.text.split()), text)

    def wait_for_end(self) -> int:
        """Read until the program has ended, and return its exit code, negative for a signal."""
        self.read_until(lambda: self.process.poll() is not None, "the end")
        self._read(0.1)
        return self.process.wait()

    def pause(self) -> None:
        """Let the program read what was sent before more is sent."""
        self._read(0.02)

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self.process.send_signal(number)

    def read_until(self, condition: Callable[[], bool], what: str) -> None:
        """Read what the program writes until a condition holds."""
        deadline = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < deadline, f"{what!r} did not come; written was:\n{self.text[-3000:]}"
            self._read(0.05)

    @property
    def text(self) -> str:
        """What was written, without its control sequences."""
        return _CONTROLS.sub("", self._decoded)

    def text_after(self, control: str) -> str:
        """What was written after a control sequence, without others; newlines at both ends left out."""
        return _CONTROLS.sub("", self._decoded.rpartition(control)[2]).strip("\r\n")

    @property
    def controls(self) -> list[str]:
        """The control sequences and characters that were written."""
        return _CONTROLS.findall(self._decoded)

    @property
    def _decoded(self) -> str:
        return bytes(self.written).decode("utf-8", "surrogateescape")

    @property
    def is_restored(self) -> bool:
        """Whether the terminal is in the mode in which it was before."""
        return termios.tcgetattr(self._slave) == self._before

    def _read(self, seconds: float) -> None:
        if select.select([self._master], [], [], seconds)[0]:
            self.written += os.read(self._master, 65536)
