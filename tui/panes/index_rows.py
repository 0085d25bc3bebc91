"""How the memory files of the index pane are drawn, one line each."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

from textual.content import Content

from memory.agentic.memory_file import MemoryFile
from tui.literal_text import visible_line
from tui.views.figures import age
from tui.views.index import IndexView
from tui.widgets.cells import fit
from tui.widgets.literal import literal_line

_WIDE, _MEDIUM = 70, 50
_AGE_WIDTH = 6


class IndexRows:
    """The topic files, newest first."""

    def __init__(self, view: IndexView) -> None:
        self._view = view

    @property
    def files(self) -> Sequence[MemoryFile]:
        """What the last look at the folder found."""
        return self._view.look.scan.files

    @property
    def keys(self) -> Sequence[Hashable]:
        """The names of the files, from the folder."""
        return [file.relative for file in self.files]

    def stamp(self, index: int) -> Hashable:
        """The file, its badges and its age in words."""
        file = self.files[index]
        return file.path, file.version, self._view.badges_of(file), age(time.time() - file.modified)

    def draw(self, index: int, width: int) -> Content:
        """One file: type, age, name, badges, description."""
        file = self.files[index]
        type_width, name_width = (9, 24) if width >= _WIDE else (8, 16) if width >= _MEDIUM else (4, 12)
        badges = "".join(f"[{visible_line(badge)}] " for badge in self._view.badges_of(file))
        return Content.assemble(
            (fit(file.type or "no type", type_width), "$text-accent"),
            " ",
            (age(time.time() - file.modified).rjust(_AGE_WIDTH), "$text-muted"),
            "  ",
            (fit(file.relative, name_width), "bold"),
            " ",
            (badges, "$text-warning"),
            literal_line(file.summary),
        )
