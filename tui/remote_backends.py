"""The back ends that workdir URLs lead to. What they need is imported when the connection is made, in a thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from agent_core.tool import BackendBase, DockerBackend, E2BBackend, FsspecBackend
from tui.workdir_url import WorkdirURL

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_CONNECT_SECONDS = 10
_READ_SECONDS = 60
_ALIVE_SECONDS = 15


def backend_for(url: WorkdirURL) -> BackendBase:
    """The back end of a URL. Nothing is reached yet."""
    return _KINDS[url.scheme](url)


def _sftp(url: WorkdirURL) -> BackendBase:
    def connect() -> AbstractFileSystem:
        _require("sshfs", "remote")
        import asyncssh
        from sshfs import SSHFileSystem

        account = {"username": url.user, "password": url.password.reveal(), "port": url.port}
        try:
            return SSHFileSystem(
                url.host,
                # Those of ~/.ssh/known_hosts; sshfs alone would trust anybody.
                known_hosts=(),
                connect_timeout=_CONNECT_SECONDS,
                login_timeout=_CONNECT_SECONDS,
                keepalive_interval=_ALIVE_SECONDS,
                keepalive_count_max=2,
                skip_instance_cache=True,
                **{name: value for name, value in account.items() if value},
            )
        except asyncssh.HostKeyNotVerifiable as error:
            port, user = f"-p {url.port} " if url.port else "", f"{url.user}@" if url.user else ""
            advice = f"connect once with `ssh {port}{user}{url.host}` to accept its key"
            raise OSError(f"it is not in ~/.ssh/known_hosts; {advice}") from error

    return FsspecBackend(connect, "sftp", url.place)


def _s3(url: WorkdirURL) -> BackendBase:
    def connect() -> AbstractFileSystem:
        _require("s3fs", "remote")
        from s3fs import S3FileSystem

        timeouts = {"connect_timeout": _CONNECT_SECONDS, "read_timeout": _READ_SECONDS}
        filesystem = S3FileSystem(use_listings_cache=False, skip_instance_cache=True, config_kwargs=timeouts)
        try:
            # Keys that only open a part of a bucket may not look at all of it.
            with suppress(PermissionError):
                filesystem.info(url.host)
        except FileNotFoundError as error:
            raise OSError("there is no such bucket") from error
        return filesystem

    return FsspecBackend(connect, "s3", url.place)


def _memory(url: WorkdirURL) -> BackendBase:
    def connect() -> AbstractFileSystem:
        _require("fsspec", "remote")
        from fsspec.implementations.memory import MemoryFileSystem

        return MemoryFileSystem()

    return FsspecBackend(connect, "memory", url.place)


def _require(package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise OSError(f"the package {package} is missing: pip install 'mnemoscope[{extra}]'")


_KINDS: dict[str, Callable[[WorkdirURL], BackendBase]] = {
    "sftp": _sftp,
    "s3": _s3,
    "memory": _memory,
    "docker": lambda url: DockerBackend(url.host),
    "e2b": lambda url: E2BBackend(url.host),
}
