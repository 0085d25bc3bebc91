"""The back ends that the contract of `BackendBase` runs against, each with a folder of its own in a real service.

SFTP is a real server on loopback; S3, the container engine and E2B are servers of ours that speak the API.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from agent_core.tool import BackendBase, DockerBackend, E2BBackend, FsspecBackend, LocalBackend
from tests.loopback.docker_engine import DockerEngine
from tests.loopback.e2b_service import ID, E2BService
from tests.loopback.s3 import S3Server
from tests.loopback.sftp import PASSWORD, USER, SftpServerHere

KINDS = ["local", "memory", "sftp", "s3", "docker", "e2b"]
with_links = pytest.mark.parametrize("place", ["local", "sftp", "docker", "e2b"], indirect=True)
"""The kinds whose folder lies on this machine, and may hold links."""
with_connection = pytest.mark.parametrize("place", ["sftp", "s3", "docker", "e2b"], indirect=True)
"""The kinds that are reached over a connection."""


class Place:
    """A back end, an empty folder in it, and the hands of somebody else there.

    Args:
        backend: under test.
        root: the folder.
        put: has a file hold something, behind the back end's back.
        folder: where the folder is on this machine, for back ends that have links.
        again: another back end for the same folder, as another program would have it.
        cut: has the connection break after so many bytes.
        paused: while it is entered, nothing is answered.
    """

    def __init__(
        self,
        backend: BackendBase,
        root: str,
        put: Callable[[str, bytes], None],
        again: Callable[[], BackendBase],
        folder: Path | None = None,
        cut: Callable[[int | None], None] | None = None,
        paused: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.backend = backend
        self.root = root
        self.put = put
        self.again = again
        self.folder = folder
        self.paused = paused
        self._cut = cut

    def path(self, name: str) -> str:
        """The whole path of a name in the folder."""
        return f"{self.root}/{name}"

    @contextmanager
    def broken(self, after: int) -> Iterator[None]:
        """Let the connection break in the middle."""
        assert self._cut is not None
        self._cut(after)
        try:
            yield
        finally:
            self._cut(None)


@pytest.fixture(params=KINDS)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """A place of the kind under test."""
    with PLACES[request.param](tmp_path) as place:
        yield place
        await place.backend.aclose()


@contextmanager
def local_place(folder: Path) -> Iterator[Place]:
    """This machine."""
    root = folder.resolve() / "root"
    root.mkdir()
    yield Place(LocalBackend(), str(root), _put_here, LocalBackend, root)


@contextmanager
def memory_place(folder: Path) -> Iterator[Place]:
    """fsspec's memory."""
    import fsspec

    filesystem = fsspec.filesystem("memory", global_store=False, skip_instance_cache=True)
    root = f"/{uuid4().hex}"
    yield Place(FsspecBackend(filesystem), root, filesystem.pipe_file, lambda: FsspecBackend(filesystem))


@contextmanager
def s3_place(folder: Path) -> Iterator[Place]:
    """A bucket of the loopback server."""
    server = S3Server("bucket")

    def open_() -> Any:
        import s3fs

        # Retries would hide what is tested, at the cost of seconds.
        retries = {"max_attempts": 1}
        return s3fs.S3FileSystem(
            key="key",
            secret="secret",
            endpoint_url=server.url,
            config_kwargs={"retries": retries},
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    def cut(after: int | None) -> None:
        server.cut_after = after

    try:
        yield Place(
            FsspecBackend(open_, "s3"),
            "/bucket/some prefix",
            lambda path, data: server.put(path.lstrip("/"), data),
            lambda: FsspecBackend(open_, "s3"),
            cut=cut,
            paused=server.paused,
        )
    finally:
        server.stop()


@contextmanager
def sftp_place(folder: Path) -> Iterator[Place]:
    """A folder of this machine behind an SFTP server."""
    root = folder.resolve() / "root"
    root.mkdir()
    server = SftpServerHere(root)

    def open_() -> Any:
        import sshfs

        return sshfs.SSHFileSystem(
            "127.0.0.1",
            port=server.port,
            username=USER,
            password=PASSWORD,
            known_hosts=server.known_hosts.encode(),
            skip_instance_cache=True,
        )

    def cut(after: int | None) -> None:
        server.cut_after = after

    try:
        yield Place(
            FsspecBackend(open_, "sftp"),
            str(root),
            _put_here,
            lambda: FsspecBackend(open_, "sftp"),
            root,
            cut,
            server.paused,
        )
    finally:
        server.stop()


@contextmanager
def docker_place(folder: Path) -> Iterator[Place]:
    """A folder of this machine, which is what is in the loopback engine's container."""
    import docker

    root = folder.resolve() / "root"
    root.mkdir()
    engine = DockerEngine(root)
    clients: list[Any] = []

    def open_() -> BackendBase:
        clients.append(docker.DockerClient(engine.host))
        return DockerBackend("web", clients[-1])

    def cut(after: int | None) -> None:
        engine.cut_after = after

    try:
        yield Place(open_(), str(root), _put_here, open_, root, cut, engine.paused)
    finally:
        for client in clients:
            client.close()
        engine.stop()


@contextmanager
def e2b_place(folder: Path) -> Iterator[Place]:
    """A folder of this machine, which is what is in the loopback service's sandbox."""
    root = folder.resolve() / "root"
    root.mkdir()
    service = E2BService(root, greeting="Welcome!\n")

    def cut(after: int | None) -> None:
        service.cut_after = after

    with pytest.MonkeyPatch.context() as patch:
        for name, value in service.environ.items():
            patch.setenv(name, value)
        yield Place(E2BBackend(ID), str(root), _put_here, lambda: E2BBackend(ID), root, cut, service.paused)
    service.stop()


PLACES = {
    "local": local_place,
    "memory": memory_place,
    "sftp": sftp_place,
    "s3": s3_place,
    "docker": docker_place,
    "e2b": e2b_place,
}


def _put_here(path: str, data: bytes) -> None:
    Path(path).write_bytes(data)
