"""`Workspace`: where the agent works, on this machine or elsewhere."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from agent_core.tool import BackendBase, LocalBackend
from tui.config import Settings
from tui.workdir_url import WorkdirURL


class Workspace(NamedTuple):
    """A workdir and what it is reached through.

    Args:
        backend: where the files are.
        folder: the workdir there; of this machine with links resolved.
        name: what sessions know it by and people see; without a password.
        history_dir: the folder of this machine that keeps the history of its memory; beside the memory when None.
        notices: what people are told, one line each.
    """

    backend: BackendBase
    folder: PurePath
    name: str
    history_dir: Path | None = None
    notices: tuple[str, ...] = ()

    async def problem(self) -> str:
        """Why the workdir cannot be reached, in one line; empty when it can."""
        if isinstance(self.backend, LocalBackend):
            return ""
        try:
            await self.backend.stat(str(self.folder))
        except OSError as error:
            return f"{error.strerror or error}. The chat goes on; memory is back as soon as that is mended."
        return ""


def open_workspace(settings: Settings) -> Workspace:
    """The workdir of the settings. A missing folder of this machine is made; what is elsewhere is not reached yet."""
    if isinstance(settings.workdir, WorkdirURL):
        return remote_workspace(settings.workdir, settings.data_dir)
    folder, notices = _made(settings.workdir)
    return Workspace(LocalBackend(), folder, str(folder), notices=notices)


def remote_workspace(url: WorkdirURL, data_dir: Path | None) -> Workspace:
    """A workdir that is elsewhere."""
    # Imported late, since most people's files are here.
    from tui.remote_backends import backend_for

    # What lies in the memory of this process is gone with it, and so is its history.
    keeps = data_dir is not None and url.scheme != "memory"
    history = data_dir / "elsewhere" / _file_name(str(url)) if keeps and data_dir else None
    return Workspace(backend_for(url), PurePosixPath(url.path), str(url), history)


def workdir_name(settings: Settings) -> str:
    """What sessions know the workdir by, without making or reaching it; empty when there is none."""
    if isinstance(settings.workdir, Path):
        return os.path.realpath(settings.workdir)
    return str(settings.workdir or "")


def _made(wanted: Path | None) -> tuple[Path, tuple[str, ...]]:
    """The folder, made where it is missing; a temporary one where that cannot be done."""
    try:
        if wanted is None:
            raise OSError("no home folder is known")
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Path(os.path.realpath(wanted)), ()
    except OSError as error:
        temporary = tempfile.mkdtemp(prefix="mnemoscope-")
        reason = f"{wanted or 'A folder for memory'} cannot be made: {error.strerror or error}"
        notice = f"{reason}. What is remembered now lies in {temporary}; name a folder with --workdir."
        return Path(os.path.realpath(temporary)), (notice,)


def _file_name(url: str) -> str:
    """A name that people recognise and that no two URLs share."""
    words = re.sub(r"[^A-Za-z0-9.]+", "-", url).strip("-.")[:60]
    return f"{words}-{hashlib.sha256(url.encode()).hexdigest()[:8]}"
