"""`FsspecBackend`: files wherever fsspec reaches: memory, SFTP, S3 and many more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_core.tool.backend import Guarantees
from agent_core.tool.fsspec_files import PlainFiles
from agent_core.tool.remote_files import RemoteBackend
from agent_core.tool.sftp_files import SftpFiles

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_GUARANTEES = {
    "memory": Guarantees(atomic_replace=True, links=True),
    "s3": Guarantees(atomic_replace=True, links=True),
    "sftp": Guarantees(atomic_replace=True),
}
"""By protocol, what was tried; of others nothing is promised."""
_ALIASES = {"s3a": "s3", "ssh": "sftp"}


class FsspecBackend(RemoteBackend["PlainFiles | SftpFiles"]):
    """The files of an fsspec file system. Paths begin with a slash; in object stores the bucket comes first.

    A file that is replaced keeps its mode where there is one. There are no locks between programs. Where clocks tell
    whole seconds, files that are seconds old are told apart by what they hold.

    Args:
        filesystem: the file system, or what makes it, which is called in a thread when it is first needed and again
            after the connection was lost.
        protocol: needed with a function: what fsspec calls the kind of file system, for example `s3`.
        name: tells it apart from others; the protocol when None.

    Raises:
        ValueError: a file system that is served better by another class.
    """

    def __init__(
        self,
        filesystem: AbstractFileSystem | Callable[[], AbstractFileSystem],
        protocol: str | None = None,
        name: str | None = None,
    ) -> None:
        made: AbstractFileSystem | None = None
        if not hasattr(filesystem, "protocol"):
            if protocol is None:
                raise ValueError("with a function that makes the file system, its protocol must be given")
        else:
            made = filesystem
            protocols = made.protocol if isinstance(made.protocol, str) else made.protocol[0]
            protocol = protocol or ("sftp" if _is_sshfs(made) else protocols)
        if protocol in ("file", "local"):
            raise ValueError("the files of this machine are those of LocalBackend")
        if made is not None and protocol in ("sftp", "ssh") and not _is_sshfs(made):
            raise ValueError("SFTP is reached through sshfs.SSHFileSystem: pip install 'mnemoscope[remote]'")
        self.guarantees = _GUARANTEES.get(_ALIASES.get(protocol, protocol), Guarantees())
        make = (lambda: made) if made is not None else filesystem
        super().__init__(name or protocol, lambda: self._files_of(make()))

    def _files_of(self, filesystem: AbstractFileSystem) -> PlainFiles | SftpFiles:
        if _is_sshfs(filesystem):
            return SftpFiles(filesystem)
        return PlainFiles(filesystem, self.guarantees.atomic_replace)


def _is_sshfs(filesystem: AbstractFileSystem) -> bool:
    """Told without importing it."""
    return any(kind.__module__.startswith("sshfs.") for kind in type(filesystem).__mro__)
