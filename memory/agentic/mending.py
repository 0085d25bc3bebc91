"""`mend`: puts right in MEMORY.md what can be put right without anything being lost. It can be undone."""

from __future__ import annotations

from collections.abc import Sequence

from memory.agentic.folder import INDEX_NAME, MemoryFolder
from memory.agentic.folder_paths import relative_to
from memory.agentic.index_edit import IndexLine, add_entries, remove_entry
from memory.agentic.index_keeper import require_text
from memory.agentic.journal_entry import USER, Author, JournalEntry
from memory.agentic.lint import Problem, lint
from memory.agentic.provenance import origin_of_lines
from memory.agentic.text_edit import edited
from memory.agentic.writer import MemoryWriter


async def mend(
    problems: Sequence[Problem], folder: MemoryFolder, writer: MemoryWriter, *, by: Author = USER
) -> tuple[JournalEntry, ...]:
    """Add the missing lines for orphans, and remove links that lead to nothing; files are never touched.

    What is no problem any more is left alone.

    Args:
        problems: of `lint`, those that are to be mended; the ones that are not fixable are passed over.
        folder: the memory folder.
        writer: changes it.
        by: who does it.

    Raises:
        StorageError: the index cannot be changed; it is as it was.
    """
    wanted = {(problem.kind, problem.path, problem.target) for problem in problems if problem.fixable}
    if not wanted:
        return ()
    async with writer.transaction("mend", by) as change:
        still = [one for one in await lint(folder) if one.fixable and (one.kind, one.path, one.target) in wanted]
        broken = {problem.target for problem in still if problem.kind == "broken link"}
        orphans = {problem.path for problem in still if problem.kind == "orphan"}
        files = [file for file in (await folder.scan()).files if file.relative in orphans]
        lines = [IndexLine(file.name, file.relative, file.description) for file in files]
        root = await folder.root()
        listed = [relative_to(root, file.path) for file in files]
        source = origin_of_lines(listed, await writer.journal.settled())
        before = await writer.disk.read(INDEX_NAME)
        require_text(before)

        def mended(index: str) -> str:
            return add_entries(remove_entry(index, broken.__contains__, is_careful=True), lines)

        change.change(INDEX_NAME, before, edited(before or b"", mended), source=source)
        return await change.carry_out()
