"""Tools and the file systems that they work on."""

from agent_core.tool.backend import BackendBase, FileInfo
from agent_core.tool.base import CallContext, ToolBase, Toolkit, ToolOutput, current_call, serving
from agent_core.tool.edit import Edit
from agent_core.tool.local_backend import LocalBackend
from agent_core.tool.read import Read
from agent_core.tool.read_record import ReadRecord
from agent_core.tool.write import Write

__all__ = [
    "BackendBase",
    "CallContext",
    "Edit",
    "FileInfo",
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
