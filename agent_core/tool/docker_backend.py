"""`DockerBackend`: the files of a running container, through the engine's API."""

from __future__ import annotations

import io
import posixpath
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from agent_core.tool.remote_files import fail
from agent_core.tool.shell_backend import ExecResult, ShellBackend, ShellFiles

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

_SECONDS = 60
_STDOUT, _STDERR = 1, 2


class DockerBackend(ShellBackend):
    """The files of a running container that has a shell; see `ShellBackend`.

    New content is sent as an archive, which does not reach a `tmpfs` that is mounted in the container: a write there is
    refused. Programs run as the container's own user.

    Args:
        container: its name or id.
        client: of the engine; the one that `DOCKER_HOST` and its like name when None.
    """

    def __init__(self, container: str, client: DockerClient | None = None) -> None:
        super().__init__(f"docker://{container}", lambda: _connect(container, client))


class _DockerFiles(ShellFiles):
    def __init__(self, container: Container, client: DockerClient, is_ours: bool) -> None:
        self._container = container
        self._client = client
        self._is_ours = is_ours

    def exec(self, argv: Sequence[str]) -> ExecResult:
        api = self._client.api
        with _told():
            made = api.exec_create(self._container.id, list(argv))["Id"]
            # Not by `exec_start`, which loses what arrives together with the head of the answer.
            url = f"{api.base_url}/v{api.api_version}/exec/{made}/start"
            with api.post(url, json={"Detach": False, "Tty": False}, stream=True, timeout=_SECONDS) as answer:
                answer.raise_for_status()
                output = answer.content
            done = api.exec_inspect(made)
        streams = _demultiplexed(output)
        if streams is None or done.get("Running") or done.get("ExitCode") is None:
            raise ConnectionResetError("the output broke off")
        return ExecResult(done["ExitCode"], streams[_STDOUT], streams[_STDERR])

    def upload(self, path: str, data: bytes, owner: tuple[int, int]) -> None:
        folder, name = posixpath.split(path)
        header = tarfile.TarInfo(name)
        header.size, header.mtime, header.mode = len(data), int(time.time()), 0o644
        header.uid, header.gid = owner
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.addfile(header, io.BytesIO(data))
        with _told():
            if not self._container.put_archive(folder, archive.getvalue()):
                fail("the engine did not take the file", path)

    def close(self) -> None:
        super().close()
        if self._is_ours:
            with suppress(Exception):
                self._client.close()


def _connect(name: str, given: DockerClient | None) -> ShellFiles:
    try:
        import docker
    except ImportError as error:
        raise OSError("the package docker is missing: pip install 'mnemoscope[docker]'") from error
    with _told():
        client = given or docker.from_env(timeout=_SECONDS)
        try:
            container = client.containers.get(name)
            if container.status != "running":
                raise OSError(f"the container is {container.status}: start it with `docker start {name}`")
        except BaseException:
            if given is None:
                client.close()
            raise
    return _DockerFiles(container, client, given is None)


def _demultiplexed(output: bytes) -> dict[int, bytes] | None:
    """Standard output and error of the engine's stream of frames; None when the last frame is not whole."""
    streams: dict[int, list[bytes]] = {_STDOUT: [], _STDERR: []}
    place = 0
    while place < len(output):
        size = int.from_bytes(output[place + 4 : place + 8], "big")
        frame = output[place + 8 : place + 8 + size]
        if len(output) < place + 8 or len(frame) < size:
            return None
        streams.setdefault(output[place], []).append(frame)
        place += 8 + size
    return {number: b"".join(frames) for number, frames in streams.items()}


@contextmanager
def _told() -> Iterator[None]:
    """Turn the errors of the packages underneath into built-in ones."""
    import docker.errors
    import requests

    try:
        yield
    except docker.errors.NotFound as error:
        raise ConnectionResetError(_words(error)) from error
    except docker.errors.APIError as error:
        raise OSError(_words(error)) from error
    except (requests.exceptions.RequestException, docker.errors.DockerException) as error:
        raise ConnectionResetError(f"no answer from the engine ({type(error).__name__})") from error


def _words(error: Any) -> str:
    return str(error.explanation or error)
