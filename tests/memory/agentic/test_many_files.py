"""What is kept of each of thousands of files must not slow down everything else."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path

from memory.agentic.local_search import LocalSearch
from memory.agentic.outside_watch import OutsideWatch
from tests.memory.agentic.books import TEA, book_in
from tests.memory.agentic.folders import put

_FILES = 300


async def test_the_garbage_collector_finds_nothing_that_grows_with_the_files(tmp_path: Path) -> None:
    """It holds up the event loop for as long as it looks, and looks at whatever it tracks."""
    for number in range(_FILES):
        put(tmp_path, f"tea{number}.md", TEA)
    book = book_in(tmp_path)
    watch, search = OutsideWatch(book.folder, book.journal), LocalSearch(book.folder)
    scan = await book.folder.scan()
    await watch.look(scan)
    found = await search.rank("oolong", scan.files, 5)
    gc.collect()
    assert len(found) == 5
    tracked = Counter(type(item).__qualname__ for item in gc.get_objects())
    ours = {name: tracked[name] for name in ("FileInfo", "MemoryFile", "WatchedFile", "Seen", "Passage", "FoundFile")}
    assert max(ours.values()) < _FILES, ours
