"""`WatchedFolder`: a `MemoryFolder` that lets somebody know what each look at it has found."""

from __future__ import annotations

from collections.abc import Callable

from memory.agentic.folder import MemoryFolder, Scan


class WatchedFolder(MemoryFolder):
    """See `MemoryFolder`.

    Attributes:
        on_scan: called with what a scan gave, whoever asked for it.
    """

    on_scan: Callable[[Scan], None] = staticmethod(lambda scan: None)

    async def scan(self) -> Scan:
        """See `MemoryFolder.scan`."""
        scan = await super().scan()
        self.on_scan(scan)
        return scan
