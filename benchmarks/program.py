"""A full-screen program in a pseudo-terminal: when it writes what, and what it costs."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from pathlib import Path

EMPTY_APP = [sys.executable, "-m", "benchmarks.empty_app"]
MNEMOSCOPE = [sys.executable, "-m", "tui"]
READY = b"Hints"
"""On the screens of both as soon as they are painted."""


class Program:
    """Starts a command in a terminal of its own, with a home folder of its own.

    Args:
        command: the program and its arguments.
        home: where it keeps its files; a new folder when None.
    """

    def __init__(self, command: Sequence[str], home: Path | None = None, columns: int = 200, rows: int = 60) -> None:
        self._temporary = None if home else tempfile.TemporaryDirectory(prefix="mnemoscope-bench-")
        folder = home or Path(self._temporary.name)  # type: ignore[union-attr]
        environ = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI_", "MNEMOSCOPE_"))}
        environ |= {"HOME": str(folder), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environ |= {"XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
        self.started = time.perf_counter()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], list(command), environ)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._seen = b""

    def wait_for(self, text: bytes, seconds: float = 60.0) -> float:
        """Wait until the program has written these bytes since the last `forget`; the moment when it did."""
        deadline = time.perf_counter() + seconds
        while text not in self._seen:
            if not self._read(deadline - time.perf_counter()):
                raise TimeoutError(f"{text!r} did not come; the last bytes were {self._seen[-500:]!r}")
        return time.perf_counter()

    def read_for(self, seconds: float) -> int:
        """Take in what is written for so long; how many bytes it was."""
        deadline, taken = time.perf_counter() + seconds, 0
        while (left := deadline - time.perf_counter()) > 0:
            taken += self._read(left)
        return taken

    def forget(self) -> None:
        """Drop what was written so far."""
        while self._read(0):
            pass
        self._seen = b""

    def type(self, data: bytes) -> float:
        """Press keys; the moment when it was done."""
        os.write(self._terminal, data)
        return time.perf_counter()

    def cpu_seconds(self) -> float:
        """Processor time that it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self) -> tuple[float, float]:
        """Memory that it holds now, and what of that it shares with no other process."""
        pages = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]
        sizes = {name: int(size.split()[0]) / 1024 for name, _, size in (line.partition(":") for line in pages)}
        return sizes["Rss"], sizes["Private_Clean"] + sizes["Private_Dirty"]

    def close(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)
        if self._temporary:
            self._temporary.cleanup()

    def _read(self, seconds: float) -> int:
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, seconds))
        if not ready:
            return 0
        piece = os.read(self._terminal, 1 << 16)
        self._seen += piece
        return len(piece)
