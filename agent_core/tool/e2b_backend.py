"""`E2BBackend`: the files of an E2B sandbox, through its SDK."""

from __future__ import annotations

import base64
import secrets
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_core.tool.remote_files import reason
from agent_core.tool.shell_backend import ExecResult, ShellBackend, ShellFiles

if TYPE_CHECKING:
    from e2b import Sandbox

_SECONDS = 60
_LIFETIME = 3600


class E2BBackend(ShellBackend):
    """The files of an E2B sandbox; see `ShellBackend`. The key is taken from `E2B_API_KEY`.

    A sandbox ends when its time is up, and its files with it; connecting lets it live for so many seconds more.

    Args:
        sandbox: one that is connected, or the id of one, which is resumed if it is paused.
        lifetime: seconds that a sandbox given by id lives on, at least.
    """

    def __init__(self, sandbox: Sandbox | str, lifetime: int = _LIFETIME) -> None:
        id_ = sandbox if isinstance(sandbox, str) else sandbox.sandbox_id
        super().__init__(f"e2b://{id_}", lambda: _connect(sandbox, lifetime))


class _E2BFiles(ShellFiles):
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def exec(self, argv: Sequence[str]) -> ExecResult:
        from e2b import CommandExitException

        # The SDK takes a command for a shell, and its output for text: so words are quoted, bytes are encoded, and what
        # a login shell may say first ends with a mark.
        mark = secrets.token_hex(8)
        command = f"set -o pipefail; printf %s {mark}; {shlex.join(argv)} | base64"
        with _told():
            try:
                done = self._sandbox.commands.run(command, timeout=_SECONDS)
            except CommandExitException as failed:
                return ExecResult(failed.exit_code, _decoded(failed.stdout, mark), failed.stderr.encode())
        return ExecResult(done.exit_code, _decoded(done.stdout, mark), done.stderr.encode())

    def upload(self, path: str, data: bytes, owner: tuple[int, int]) -> None:
        with _told():
            self._sandbox.files.write(path, data)


def _connect(sandbox: Sandbox | str, lifetime: int) -> ShellFiles:
    if not isinstance(sandbox, str):
        return _E2BFiles(sandbox)
    try:
        from e2b import Sandbox
    except ImportError as error:
        raise OSError("the package e2b is missing: pip install 'mnemoscope[e2b]'") from error
    with _told():
        return _E2BFiles(Sandbox.connect(sandbox, timeout=lifetime))


def _decoded(output: str, mark: str) -> bytes:
    return base64.b64decode(output.rpartition(mark)[2])


@contextmanager
def _told() -> Iterator[None]:
    """Turn the errors of the SDK into built-in ones."""
    import httpx
    from e2b import AuthenticationException, CommandExitException, NotFoundException, SandboxException, TimeoutException

    try:
        yield
    except CommandExitException:
        raise
    except (TimeoutException, NotFoundException, httpx.HTTPError) as error:
        raise ConnectionResetError(reason(error)) from error
    except (AuthenticationException, SandboxException) as error:
        raise OSError(reason(error)) from error
