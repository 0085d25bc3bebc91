"""The prompts that were typed before, in this session and in earlier ones."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Collection
from itertools import islice
from pathlib import Path

from agent_core.text import well_formed
from agent_core.tool.local_files import open_regular, read_file
from tui.file_replacement import rewrite
from tui.literal_text import visible

MAX_ENTRIES = 1_000
MAX_CHARACTERS = 20_000
"""Longer prompts are remembered in this process only."""
_READ_BYTES = 4_000_000


class PromptHistory:
    """Goes back and forth through what was typed.

    Args:
        path: a file of one JSON string a line, read when it is first needed; None to remember in this process only.

    Attributes:
        problem: why the file could not be read or written, in one line; empty when it could.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.problem = ""
        self._path = path
        self._entries: deque[str] | None = None
        self._back = 0
        self._written: dict[int, str] = {}

    def add(self, text: str) -> None:
        """Remember a prompt, behind what was written on the way to it and left, and go to the end."""
        self._written.pop(self._back, None)
        left = self._written.values()
        self.start_over()
        for one in (*left, text):
            self._remember(one)

    def unsent(self, shown: str) -> str:
        """What a person has written since the last prompt, `shown` among it unless it is a prompt of before."""
        others = [text for back, text in self._written.items() if back != self._back]
        return "\n".join(filter(None, [*others, shown if self._is_written(shown) else ""]))

    def start_over(self) -> None:
        """Go to the end, where nothing has been written yet."""
        self._back, self._written = 0, {}

    def _remember(self, text: str) -> None:
        text = well_formed(text)
        entries = self._loaded()
        if not text.strip() or (entries and entries[-1] == text):
            return
        entries.append(text)
        if self._path is not None and len(text) <= MAX_CHARACTERS:
            self._write(self._path, text)

    def forget(self, texts: Collection[str]) -> int:
        """Forget prompts of these texts, in the file too; how many those were."""
        gone = {well_formed(text) for text in texts}
        entries = self._loaded()
        kept = [text for text in entries if text not in gone]
        count = len(entries) - len(kept)
        entries.clear()
        entries.extend(kept)
        self.start_over()
        if self._path is not None and gone:
            count = max(count, self._rewrite(self._path, gone))
        return count

    def reload(self) -> None:
        """Read the file anew, from which something else has taken prompts out; what is only known here goes too."""
        if self._path is not None:
            self._entries = None
            self.start_over()

    def older(self, shown: str) -> str | None:
        """The prompt before; None when there is none. `shown` is kept, to be there on the way back."""
        return self._gone(1, shown)

    def newer(self, shown: str) -> str | None:
        """The prompt after, in the end what was being typed; None when that is shown already. `shown` is kept, too."""
        return self._gone(-1, shown)

    def _gone(self, steps: int, shown: str) -> str | None:
        if not 0 <= self._back + steps <= len(self._loaded()):
            return None
        if self._is_written(shown):
            self._written[self._back] = shown
        self._back += steps
        return self._written.get(self._back, self._entry())

    def _is_written(self, shown: str) -> bool:
        """Whether what is shown is not what was given."""
        return shown != visible(self._entry())

    def _entry(self) -> str:
        return self._loaded()[-self._back] if self._back else ""

    def _loaded(self) -> deque[str]:
        if self._entries is None:
            self._entries = deque(self._read(self._path) if self._path else [], maxlen=MAX_ENTRIES)
        return self._entries

    def _read(self, path: Path) -> list[str]:
        try:
            with open(path, "rb", opener=open_regular) as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - _READ_BYTES))
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            self.problem = f"Earlier prompts cannot be read from {path}: {error.strerror or error}"
            return []
        # After a jump into the middle of the file the first line may be a part of one.
        whole = islice(lines, 1, None) if size > _READ_BYTES else lines
        return [text for line in whole if (text := _decoded(line))]

    def _rewrite(self, path: Path, gone: Collection[str]) -> int:
        """Take lines out of the file; how many. Lines that cannot be read go too: nobody can tell what is in them."""
        try:
            lines = read_file(str(path), None, True).splitlines(keepends=True)
            kept = [line for line in lines if (text := _decoded(line)) and text not in gone]
            if len(kept) < len(lines):
                rewrite(path, b"".join(kept))
        except FileNotFoundError:
            return 0
        except OSError as error:
            self.problem = f"{path} cannot be written: {error.strerror or error}"
            return 0
        return len(lines) - len(kept)

    def _write(self, path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "ab+", opener=open_regular) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 1))
                # A line that was torn when a process was killed must not take this one with it.
                gap = b"" if file.read(1) in (b"", b"\n") else b"\n"
                file.write(gap + json.dumps(text, ensure_ascii=False).encode() + b"\n")
        except OSError as error:
            self.problem = f"Prompts are remembered until you quit only: {path} cannot be written: {error.strerror}"


def _decoded(line: bytes) -> str:
    """The prompt in a line; empty for a line that holds none, such as one that was torn."""
    try:
        text = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return well_formed(text) if isinstance(text, str) else ""
