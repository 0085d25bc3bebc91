"""A real terminal for tests: tmux, one private server for each, driven by keys and read as a person would read it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LONG = 60.0
"""Seconds after which a screen that does not come is given up on; a passing test never takes that long."""
_BETWEEN_LOOKS = 0.05


class Terminal:
    """A terminal in which one command runs. It stays when that has ended, so that what is left of it can be looked at.

    Args:
        tmux: the path of tmux.
        command: the program and its arguments.
        environ: variables for the program, over those of this process.
        columns: the width.
        rows: the height.
    """

    def __init__(
        self,
        tmux: str,
        command: Sequence[str],
        environ: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mnemoscope-tmux-")
        self._tmux = [tmux, "-S", str(Path(self._folder.name) / "socket"), "-f", os.devnull]
        self._pid_file = Path(self._folder.name) / "pid"
        size = ["-x", str(columns), "-y", str(rows)]
        # The size of the terminal that the tests run in, where somebody has put it there, is not that of this one.
        inherited = {key: value for key, value in {**os.environ, **environ}.items() if key not in ("COLUMNS", "LINES")}
        self._run("new-session", "-d", *size, self._shell(command), environ=inherited)

    def start(self, command: Sequence[str]) -> None:
        """Run another command in the same terminal, when the one before has ended."""
        self._pid_file.unlink(missing_ok=True)
        self._run("respawn-pane", "-k", self._shell(command))

    def _shell(self, command: Sequence[str]) -> str:
        """What the shell is told: to note the process id, to run the command, to print its exit code, to stay."""
        inner = f"echo $$ > {shlex.quote(str(self._pid_file))}; exec {shlex.join(command)}"
        return f"sh -c {shlex.quote(inner)}; printf '\\nexit code %s\\n' $?; exec cat"

    @property
    def pid(self) -> int:
        """The process id of the command."""
        self.until(lambda: self._pid_file.exists() and self._pid_file.read_text().strip(), "the program's process id")
        return int(self._pid_file.read_text())

    def type(self, text: str) -> None:
        """Type a text as it is."""
        self._run("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys, named as tmux names them: Enter, Escape, C-q, F3, PageUp."""
        self._run("send-keys", *keys)

    def click(self, text: str) -> None:
        """Click on the places where a text stands on the screen; nothing wide may stand before it in its line."""
        for row, line in enumerate(self.screen().splitlines(), 1):
            if text in line:
                column = line.index(text) + 1 + len(text) // 2
                self.type(f"\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m")

    def say(self, text: str) -> None:
        """Type a text and send it."""
        self.type(text)
        self.press("Enter")

    def signal(self, number: signal.Signals) -> None:
        """Send the command a signal."""
        os.kill(self.pid, number)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal."""
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self) -> str:
        """What is on the screen, without colours."""
        return self._run("capture-pane", "-p")

    def flags(self) -> str:
        """Which of the things that a full-screen program switches on are on: alternate screen, mouse, key modes."""
        names = ("alternate_on", "mouse_any_flag", "mouse_sgr_flag", "keypad_flag", "keypad_cursor_flag")
        return self._run("display-message", "-p", " ".join(f"{name}=#{{{name}}}" for name in names)).strip()

    def wait_for(self, *texts: str) -> str:
        """Wait until all of these texts are on the screen at once, and return it.

        Raises:
            AssertionError: they did not come, or the command has ended without.
        """

        def shown() -> str:
            screen = self.screen()
            if all(text in screen for text in texts):
                return screen
            assert "exit code " not in screen, f"the command has ended; the screen:\n{screen}"
            return ""

        return self.until(shown, ", ".join(map(repr, texts)))

    def until(self, condition: Callable[[], str | bool], what: str) -> str:
        """Wait until a condition holds, and return what it gave.

        Raises:
            AssertionError: it did not come to hold; with the screen as it was then.
        """
        deadline = time.monotonic() + LONG
        while not (value := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"waited in vain for {what}; the screen:\n{self.screen()}")
            time.sleep(_BETWEEN_LOOKS)
        return str(value)

    def exit_code(self) -> int:
        """Wait for the end of the command and return its exit code."""
        found = re.compile(r"exit code (\d+)")
        self.until(lambda: bool(found.search(self.screen())), "the end of the command")
        return int(found.findall(self.screen())[-1])

    def close(self) -> None:
        """End everything that runs in this terminal."""
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)
        self._folder.cleanup()

    def _run(self, *arguments: str, environ: Mapping[str, str] | None = None) -> str:
        answer = subprocess.run(
            [*self._tmux, *arguments], capture_output=True, text=True, env=environ, check=True, timeout=LONG
        )
        return answer.stdout
