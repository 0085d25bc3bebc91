"""All that is known of a memory file, in words."""

from __future__ import annotations

from memory.agentic.memory_file import MemoryFile
from tui.views.figures import estimated, short_count
from tui.views.index import IndexView
from tui.views.index_lines import MEANINGS
from tui.views.moments import moment
from tui.views.origins import told_origin


def file_facts(view: IndexView, file: MemoryFile) -> str:
    """The facts above the text of a file, one a line."""
    facts = [
        ("file", file.path),
        ("name", file.name),
        ("type", file.type or "none"),
        ("description", file.description or "none"),
        ("came from", told_origin(view.origin_of(file))),
        ("modified", moment(file.modified)),
        ("size", f"{file.size} bytes"),
        ("index", index_line(view, file)),
        ("badges", ", ".join(view.badges_of(file)) or "none"),
    ]
    return "\n".join(f"{name:<12}{value}" for name, value in facts)


def foot_line(view: IndexView, file: MemoryFile) -> str:
    """What the foot of the pane says of a file."""
    by = view.changed_by.get(file.path)
    parts = [file.relative, index_line(view, file), f"from {view.origin_of(file)}", f"changed by {by}" if by else ""]
    parts += [f"{short_count(file.size)} bytes", moment(file.modified), file.path]
    return " · ".join(filter(None, parts))


def index_line(view: IndexView, file: MemoryFile) -> str:
    """Where the index leads to a file, and what that costs."""
    lines, meaning = view.look.lines.get(file.path), MEANINGS[view.sign_of(file)]
    if lines is None:
        return meaning
    numbers = ", ".join(map(str, lines.numbers))
    return f"{meaning}, line {numbers}, {estimated(lines.tokens)} tokens"
