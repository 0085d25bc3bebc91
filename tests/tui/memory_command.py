"""`mnemoscope memory` in this process, over a folder on a real disk, for the tests of its actions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tui.__main__ import main

TEA = "---\nname: Tea\ndescription: likes oolong more than green tea\ntype: user\n---\n\nLikes oolong.\n"
TEA_LINE = "- [Tea](tea.md) — likes oolong more than green tea\n"


class Answer(NamedTuple):
    """What the command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def values(self) -> list[dict[str, Any]]:
        """What it printed as JSON, a value a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """Runs the command in a workdir of its own."""

    def __init__(self, workdir: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.workdir = workdir
        self.folder = workdir / "Memory"
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *words: str) -> Answer:
        code = main(["memory", *words, "--workdir", str(self.workdir)])
        captured = self._capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    def put(self, path: str, content: str | bytes) -> Path:
        """Write a file of the memory folder as another program would."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def tree(self) -> dict[str, bytes]:
        """All files of the memory folder."""
        found = [path for path in sorted(self.folder.rglob("[!.]*")) if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    def use_editor(self, program: str) -> Path:
        """Have a Python program, to which the file is `path`, be the editor; returns where it says that it ran."""
        ran = self.workdir / "editor.ran"
        script = self.workdir / "editor.py"
        script.parent.mkdir(parents=True, exist_ok=True)
        imports = "import sys\nfrom pathlib import Path\n"
        script.write_text(f"{imports}path = Path(sys.argv[1])\nPath({str(ran)!r}).write_text(str(path))\n{program}\n")
        self._monkeypatch.delenv("VISUAL", raising=False)
        self._monkeypatch.setenv("EDITOR", f"'{sys.executable}' '{script}'")
        return ran
