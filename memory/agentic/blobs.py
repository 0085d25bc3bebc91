"""`Blobs`: what memory files held before and after their changes, each content kept once by its hash.

Contents lie in up to 256 ZIP files, by the first two digits of their SHA-256: few enough files for twenty thousand
contents, each small enough to be replaced as a whole, and readable with any unzip. What reads them is imported late,
for the start of the program does not need it.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Collection, Iterable

from agent_core.tool.backend import BackendBase
from memory.agentic.journal_entry import digest_of

LARGEST = 16 * 2**20
"""Bytes: a content that is larger is not kept."""


class Blobs:
    """Contents by digest, in a folder that is made when the first is kept. Whoever changes it holds the journal's lock.

    Args:
        backend: where the folder is.
        folder: its resolved path.
    """

    def __init__(self, backend: BackendBase, folder: str) -> None:
        self._backend = backend
        self._folder = folder

    async def get(self, digest: str) -> bytes | None:
        """A content; None when it is not kept, or is damaged.

        Raises:
            OSError: it cannot be read.
        """
        data = await self._read(self._path(digest[:2]))
        return await asyncio.to_thread(_content, data, digest) if data else None

    async def put(self, contents: Iterable[bytes]) -> None:
        """Keep contents, those that are kept already excepted.

        Raises:
            OSError: they cannot be written; what was kept before still is.
        """
        wanted: dict[str, dict[str, bytes]] = {}
        for content in contents:
            if len(content) <= LARGEST:
                digest = digest_of(content)
                wanted.setdefault(digest[:2], {})[digest] = content
        for prefix, by_digest in wanted.items():
            path = self._path(prefix)
            data = await self._read(path)
            held, is_damaged = await asyncio.to_thread(_held, data)
            if is_damaged:
                await self._backend.write_file(f"{path}.damaged", data, follow=False)
            missing = {digest: content for digest, content in by_digest.items() if digest not in held}
            if missing:
                packed = await asyncio.to_thread(_packed, b"" if is_damaged else data, missing)
                await self._backend.write_file(path, packed, follow=False)

    async def keep_only(self, digests: Collection[str]) -> int:
        """Remove all other contents, and what is damaged; how many contents there were.

        Raises:
            OSError: some cannot be removed.
        """
        removed = 0
        left: dict[str, set[str]] = {}
        for path in await self._files():
            data = await self._read(path)
            held, is_damaged = await asyncio.to_thread(_held, data)
            gone = held.difference(digests)
            if not gone and not is_damaged:
                continue
            removed += len(gone)
            if held == gone:
                await self._backend.delete_file(path, follow=False)
            else:
                left[path] = held - gone
        # Not before the others, which need no room on a full disk and make some.
        for path, kept in left.items():
            await self._replace(path, await self._read(path), kept)
        return removed

    async def _replace(self, path: str, data: bytes, digests: Collection[str]) -> None:
        """Have a file hold only some of the contents that are in `data`."""
        left = {digest: content for digest in digests if (content := _content(data, digest)) is not None}
        if left:
            await self._backend.write_file(path, await asyncio.to_thread(_packed, b"", left), follow=False)
        else:
            await self._backend.delete_file(path, follow=False)

    def _path(self, prefix: str) -> str:
        return f"{self._folder}/{prefix}.zip"

    async def _files(self) -> list[str]:
        try:
            return [info.path for info in await self._backend.list_dir(self._folder) if ".zip" in info.name]
        except FileNotFoundError:
            return []

    async def _read(self, path: str) -> bytes:
        try:
            return await self._backend.read_file(path, follow=False)
        except FileNotFoundError:
            return b""


def _held(data: bytes) -> tuple[set[str], bool]:
    """The digests in a ZIP file, and whether it is damaged."""
    import zipfile

    if not data:
        return set(), False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return set(archive.namelist()), False
    except (zipfile.BadZipFile, ValueError):
        return set(), True


def _content(data: bytes, digest: str) -> bytes | None:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            content = archive.read(digest)
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, NotImplementedError):
        return None
    return content if digest_of(content) == digest else None


def _packed(data: bytes, more: dict[str, bytes]) -> bytes:
    import zipfile

    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for digest, content in more.items():
            # Without the time of day: the same contents make the same file.
            archive.writestr(zipfile.ZipInfo(digest), content, zipfile.ZIP_DEFLATED, 1)
    return buffer.getvalue()
