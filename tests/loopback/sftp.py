"""`SftpServerHere`: a real SSH server with SFTP over a folder of this machine, in a thread of its own.

Besides what asyncssh's server does it can be told to cut every connection in the middle of a write or read, and to be
without the extensions that OpenSSH adds.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh

USER, PASSWORD = "ana", "s3cr3t/päss@word"


class _Server(asyncssh.SSHServer):
    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, PASSWORD)


class SftpServerHere:
    """Serves the whole file system of this machine to one user; `home` is where a session begins."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cut_after: int | None = None
        self.lacks_posix_rename = False
        self._connections: list[asyncssh.SSHServerConnection] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self._acceptor = self._do(self._listen(0))
        self.port = self._acceptor.get_port()

    @property
    def known_hosts(self) -> str:
        """A line for a `known_hosts` file."""
        return f"[127.0.0.1]:{self.port} {self.host_key.export_public_key().decode().strip()}\n"

    def cut(self) -> None:
        """Break every connection."""

        async def abort() -> None:
            for connection in self._connections:
                connection.abort()
            self._connections.clear()

        self._do(abort())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While it is entered, connections stay and nothing is answered."""
        going_on = threading.Event()
        self._loop.call_soon_threadsafe(going_on.wait)
        try:
            yield
        finally:
            going_on.set()

    def stop(self) -> None:
        self.cut()

        async def close() -> None:
            self._acceptor.close()
            await self._acceptor.wait_closed()
            await asyncio.sleep(0)

        self._do(close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self, port: int) -> asyncssh.SSHAcceptor:
        here = self

        class Sftp(asyncssh.SFTPServer):
            def __init__(self, channel: Any) -> None:
                super().__init__(channel)
                here._connections.append(channel.get_connection())

            def realpath(self, path: bytes) -> bytes:
                return os.path.realpath(os.path.join(os.fsencode(here.home), path))

            def read(self, file_obj: Any, offset: int, size: int) -> bytes:
                self._maybe_cut(offset + size)
                return super().read(file_obj, offset, size)  # type: ignore[return-value]

            def write(self, file_obj: Any, offset: int, data: bytes) -> int:
                self._maybe_cut(offset + len(data))
                return super().write(file_obj, offset, data)  # type: ignore[return-value]

            def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
                if here.lacks_posix_rename:
                    raise asyncssh.SFTPOpUnsupported("Operation not supported")
                return super().posix_rename(oldpath, newpath)

            def _maybe_cut(self, reached: int) -> None:
                if here.cut_after is not None and reached > here.cut_after:
                    self.channel.get_connection().abort()
                    raise asyncssh.SFTPConnectionLost("cut")

        return await asyncssh.listen(
            "127.0.0.1", port, server_factory=_Server, server_host_keys=[self.host_key], sftp_factory=Sftp
        )
