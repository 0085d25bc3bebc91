"""Which version of each memory file was looked at last, and what it held; kept beside the journal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

from msgspec import Struct

from agent_core.tool.backend import BackendBase

_FILE_NAME = "seen.json"


class Seen(Struct, frozen=True, gc=False):
    """A file as it was when it was looked at: its version on the disk, and the digest of its bytes.

    The garbage collector passes over it: thousands would make each of its rounds long.
    """

    version: str
    digest: str


async def seen_version(backend: BackendBase, place: str) -> str:
    """Tells whether the record has been written anew; empty when there is none.

    Raises:
        OSError: the record cannot be looked at.
    """
    info = await backend.stat(f"{place}/{_FILE_NAME}")
    return info.version if info else ""


async def load_seen(backend: BackendBase, place: str) -> dict[str, Seen] | None:
    """What was seen, by paths from the memory folder; None when nothing was yet, or the record is damaged.

    Raises:
        OSError: it cannot be read.
    """
    try:
        return await asyncio.to_thread(_decoded, await backend.read_file(f"{place}/{_FILE_NAME}", follow=False))
    except (FileNotFoundError, ValueError, TypeError, AttributeError, RecursionError):
        return None


async def save_seen(backend: BackendBase, place: str, seen: Mapping[str, Seen]) -> None:
    """Write it down.

    Raises:
        OSError: it cannot be written.
    """
    data = await asyncio.to_thread(_encoded, dict(seen))
    await backend.write_file(f"{place}/{_FILE_NAME}", data, follow=False)


def _encoded(seen: Mapping[str, Seen]) -> bytes:
    # Piece by piece: thousands at once would hold up all other threads.
    pieces = (f"{json.dumps(path)}: {json.dumps((one.version, one.digest))}" for path, one in seen.items())
    return f"{{{', '.join(pieces)}}}".encode()


def _decoded(data: bytes) -> dict[str, Seen]:
    return {str(path): Seen(str(version), str(digest)) for path, (version, digest) in json.loads(data).items()}
