"""The memory index as it was injected, and the memory folder as it is now."""

from __future__ import annotations

from agent_core.event import Event, FileChanged, IndexRead, Origin
from memory.agentic.memory_file import MemoryFile
from tui.views.figures import estimated, plural
from tui.views.index_lines import UNUSABLE, badges, count_signs
from tui.views.index_look import FolderLook

FROM_A_TOOL = "from a tool's result"


class IndexView:
    """The fold behind the index pane. The folder is no event: whoever looks at it hands in what was seen.

    Attributes:
        read: the index as it was injected last; None before the first prompt.
        look: what the folder held when it was looked at last.
        changed_by: who changed a file last, by its path: `user`, `model`, `tool` or `outside`.
        is_stale: whether there is news of the folder since somebody began to look at it.
    """

    def __init__(self) -> None:
        self.read: IndexRead | None = None
        self.look = FolderLook()
        self.changed_by: dict[str, Origin] = {}
        self.is_stale = False

    def apply(self, event: Event) -> bool:
        """Take in one event; whether what is shown has changed."""
        match event:
            case IndexRead():
                self.read = event
            case FileChanged(path=path, origin=origin):
                self.changed_by[path] = origin
            case _:
                return False
        self.is_stale = True
        return True

    def take(self, look: FolderLook) -> bool:
        """Take in a look at the folder; whether what is shown has changed."""
        # How many headers had to be opened says how the look was made, not what there is.
        look = look._replace(scan=look.scan._replace(headers_read=0))
        changed = look != self.look
        self.look = look
        return changed

    def sign_of(self, file: MemoryFile) -> str:
        """How a file stands in the next prompt; see `index_lines.MEANINGS`."""
        return self.look.sign_of(file)

    def origin_of(self, file: MemoryFile) -> Origin:
        """Where what a file says came from."""
        return self.look.origins.get(file.path, "outside")

    def badges_of(self, file: MemoryFile) -> tuple[str, ...]:
        """What a person should know about a file, a few words each."""
        found = [FROM_A_TOOL] if self.origin_of(file) == "tool" else []
        found += file.badges
        if not file.is_disabled and self.sign_of(file) != UNUSABLE:
            found += badges(self.look.lines.get(file.path), self.look.fitted.cut_line)
        return tuple(found)

    @property
    def files_line(self) -> str:
        """How many files there are, and how they stand in the next prompt."""
        files = plural(len(self.look.scan.files), "memory file")
        return ": ".join(filter(None, [files, count_signs(self.look.signs)]))

    @property
    def problems(self) -> list[str]:
        """What is wrong with the folder or its index, one line each."""
        return [*self.look.scan.problems, *self.look.bad_links]

    @property
    def injected_line(self) -> str:
        """What of the index went into the prompt, in words."""
        read = self.read
        if read is None:
            return "not read yet: it goes into the prompt with the next reply"
        if not read.found:
            return f"none at {read.path}"
        if not read.lines:
            return f"empty: {read.path}"
        size = f"{estimated(read.tokens)} tokens"
        if read.is_fenced:
            size += ", set apart as data (a tool's result had a part in it)"
        if read.cut_line is None:
            return f"loaded all {plural(read.lines, 'line')}, {size}"
        return f"loaded {read.injected_lines} of {read.lines} lines, {size}, cut at line {read.cut_line}"

    @property
    def drift_line(self) -> str:
        """How the file differs from what was injected; empty when it does not."""
        index = self.look.index_file
        if index is None:
            return ""
        if index.badge:
            return f"{index.path}: {index.badge}"
        if self.read is None or (index.found == self.read.found and self.look.fitted.text == self.read.text):
            return ""
        return "changed since: the next prompt has it as it is now" if index.found else "deleted since"
