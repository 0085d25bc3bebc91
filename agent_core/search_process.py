"""A process of its own that searches with regular expressions, and can be ended in the middle of a search."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading

_PROGRAM = """\
import json, re, sys
for line in sys.stdin:
    pattern, text = json.loads(line)
    print(int(re.search(pattern, text, re.IGNORECASE) is not None), flush=True)
"""
_START_SECONDS = 10.0
_NO_WINDOW = 0x08000000 if sys.platform == "win32" else 0


class TimeLimitExceeded(Exception):
    """The search took longer than it may."""


class SearchProcess:
    """Searches one text after the other, for all threads; the process is begun when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0
        self._turn = threading.Lock()

    def is_found(self, pattern: str, text: str, seconds: float) -> bool:
        """Whether `pattern` is found in `text`, upper and lower case being the same.

        Raises:
            TimeLimitExceeded: that could not be told in so many seconds, or no process can be begun here.
        """
        with self._turn:
            try:
                return self._ask(self._running(), pattern, text, seconds)
            except OSError as error:
                raise TimeLimitExceeded from error

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.communicate()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is not None:
            self.close()
        if self._process is None or self._owner != os.getpid():
            # A program that is frozen into one file is no interpreter, and would begin itself.
            if not sys.executable or getattr(sys, "frozen", False):
                raise TimeLimitExceeded
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="ascii",
                creationflags=_NO_WINDOW,
            )
            self._owner = os.getpid()
            atexit.register(self.close)
            # Its start is not to be counted as time of the first search.
            self._ask(self._process, "", "", _START_SECONDS)
        return self._process

    def _ask(self, process: subprocess.Popen[str], pattern: str, text: str, seconds: float) -> bool:
        assert process.stdin is not None
        assert process.stdout is not None
        end = threading.Timer(seconds, process.kill)
        end.start()
        try:
            print(json.dumps([pattern, text]), file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        finally:
            end.cancel()
        if not answer:
            self.close()
            raise TimeLimitExceeded
        return answer.strip() == "1"
