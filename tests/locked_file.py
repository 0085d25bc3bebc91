"""An SQLite file that somebody else is writing to."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
"""


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Another connection of this process holds the write lock."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@asynccontextmanager
async def locked_elsewhere(file: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process holds the write lock; a line given to it makes it let go."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _HOLD, str(file), stdin=-1, stdout=-1)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"locked\n"
    yield process
    await process.communicate(b"\n")
