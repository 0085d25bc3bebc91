"""Where warnings and internal errors are written down: a file, since the screen is not ours to print on."""

from __future__ import annotations

import logging
import os
import tempfile
import time
import traceback
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

from agent_core.tool.local_files import open_regular
from tui.config import Settings


class _LogFile(logging.FileHandler):
    """Makes its folder when it is first needed; a log that cannot be written must not stop who writes it."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=open_regular)

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):
            Path(self.baseFilename).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Nor may it print about it on the screen."""


def log_path(settings: Settings) -> Path:
    """The file for the log."""
    return (settings.data_dir or Path(tempfile.gettempdir())) / "mnemoscope.log"


def log_warnings_to(path: Path) -> None:
    """Have warnings of all packages written to `path`, which is made with the first of them."""
    handler = _LogFile(path, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def write_down(error: BaseException | str, path: Path) -> Path:
    """Append an error to the log, or to a temporary file where that cannot be; says which.

    Args:
        error: written with its traceback, or what is known of it in words.
        path: of the log.
    """
    details = error if isinstance(error, str) else "".join(traceback.format_exception(error))
    text = f"{time.strftime('%Y-%m-%d %H:%M:%S')} internal error\n{details}\n"
    data = text.encode("utf-8", "backslashreplace")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "ab", opener=open_regular) as file:
            file.write(data)
        return path
    except OSError:
        handle, name = tempfile.mkstemp(prefix="mnemoscope-", suffix=".log")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        return Path(name)
