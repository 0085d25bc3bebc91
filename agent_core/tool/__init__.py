"""Tools and the file systems that they work on. Back ends elsewhere are imported when they are asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent_core.tool.backend import BackendBase, FileInfo, Guarantees
from agent_core.tool.base import CallContext, ToolBase, Toolkit, ToolOutput, current_call, serving
from agent_core.tool.edit import Edit
from agent_core.tool.local_backend import LocalBackend
from agent_core.tool.read import Read
from agent_core.tool.read_record import ReadRecord
from agent_core.tool.write import Write

if TYPE_CHECKING:
    from agent_core.tool.docker_backend import DockerBackend
    from agent_core.tool.e2b_backend import E2BBackend
    from agent_core.tool.fsspec_backend import FsspecBackend

__all__ = [
    "BackendBase",
    "CallContext",
    "DockerBackend",
    "E2BBackend",
    "Edit",
    "FileInfo",
    "FsspecBackend",
    "Guarantees",
    "LocalBackend",
    "Read",
    "ReadRecord",
    "ToolBase",
    "ToolOutput",
    "Toolkit",
    "Write",
    "current_call",
    "serving",
]

_ELSEWHERE = {"DockerBackend": "docker_backend", "E2BBackend": "e2b_backend", "FsspecBackend": "fsspec_backend"}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"agent_core.tool.{_ELSEWHERE[name]}"), name)
