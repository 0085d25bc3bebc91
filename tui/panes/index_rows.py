"""How the memory files of the index pane are drawn, one line each."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memory.agentic.memory_file import MemoryFile
from tui.literal_text import visible_line
from tui.views.figures import age, estimated, short_count
from tui.views.index import IndexView
from tui.views.index_lines import INJECTED, MEANINGS
from tui.widgets.cells import fit
from tui.widgets.literal import literal_line

if TYPE_CHECKING:
    from memory.agentic.local_search import FoundFile

_HUGE, _WIDE, _MEDIUM = 100, 70, 50
_AGE_WIDTH = 6
_SIZE_WIDTH = 5
_ORIGIN_WIDTH = 7


class IndexRows:
    """The topic files, newest first, or those that a search has found, best first."""

    def __init__(self, view: IndexView) -> None:
        self._view = view
        self._found: dict[str, FoundFile] = {}

    @property
    def files(self) -> Sequence[MemoryFile]:
        """What is shown, as the last look at the folder has it."""
        files = self._view.look.scan.files
        if not self._found:
            return files
        found = {file.path: file for file in files if file.path in self._found}
        return [found[path] for path in self._found if path in found]

    @property
    def keys(self) -> Sequence[Hashable]:
        """The names of the files, from the folder."""
        return [file.relative for file in self.files]

    def narrow(self, found: Sequence[FoundFile]) -> None:
        """Show only what was found; nothing shows all."""
        self._found = {one.file.path: one for one in found}

    def why(self, file: MemoryFile) -> str:
        """Why a file was found; empty where all are shown."""
        found = self._found.get(file.path)
        return f"{found.score:.2f} {found.why}" if found is not None else ""

    def stamp(self, index: int) -> Hashable:
        """The file, all that is said of it, and its age in words."""
        file, view = self.files[index], self._view
        badges, sign, origin = view.badges_of(file), view.sign_of(file), view.origin_of(file)
        return file.path, file.version, badges, sign, origin, age(time.time() - file.modified), self.why(file)

    def draw(self, index: int, width: int) -> Content:
        """One file: its standing, type, age, name, size, origin, badges, description."""
        file, view = self.files[index], self._view
        type_width, name_width = (9, 22) if width >= _WIDE else (8, 16) if width >= _MEDIUM else (4, 12)
        sign, why = view.sign_of(file), self.why(file)
        parts = [
            Content.styled(sign, "$text-success" if sign == INJECTED else "$text-warning"),
            Content.styled(fit(file.type or "no type", type_width), "$text-accent"),
            Content.styled(age(time.time() - file.modified).rjust(_AGE_WIDTH), "$text-muted"),
            Content.styled(f" {fit(file.relative, name_width)}", "bold"),
        ]
        if width >= _HUGE:
            parts.append(Content.styled(self._sizes(file), "$text-muted"))
        if width >= _WIDE:
            parts.append(Content.styled(fit(view.origin_of(file), _ORIGIN_WIDTH), "$text-muted"))
        # Where there is little room, what the sign says already is left to it.
        told_badges = (badge for badge in view.badges_of(file) if width >= _WIDE or badge != MEANINGS[sign])
        badges = "".join(f"[{visible_line(badge)}] " for badge in told_badges)
        told = [Content.styled(badges, "$text-warning"), literal_line(f"{why} · " if why else "", "$text-accent")]
        return Content.assemble(Content(" ").join(parts), " ", *told, literal_line(file.summary))

    def _sizes(self, file: MemoryFile) -> str:
        """Its bytes, and the tokens of its lines in the index."""
        lines = self._view.look.lines.get(file.path)
        tokens = estimated(lines.tokens) if lines is not None else ""
        return f"{fit(short_count(file.size), _SIZE_WIDTH)} {fit(tokens, _SIZE_WIDTH)}"
