"""Which memory file a tool call is about."""

from __future__ import annotations

from typing import Any

from agent_core.errors import ToolError
from agent_core.message import ToolCallBlock
from agent_core.tool.arguments import parse_arguments
from agent_core.tool.base import ToolBase
from agent_core.tool.local_backend import LocalBackend
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import relative_to


async def path_of_call(folder: MemoryFolder, tool: ToolBase, call: ToolCallBlock) -> str | None:
    """The path of the file that a call is about, from the memory folder; None when that is none of its files."""
    try:
        return await path_in_memory(folder, tool, parse_arguments(call.input))
    except ToolError:
        return None


async def path_in_memory(folder: MemoryFolder, tool: ToolBase, arguments: dict[str, Any]) -> str | None:
    """As `path_of_call`, for arguments that are parsed already."""
    if (tool.backend or LocalBackend()).name != folder.backend.name:
        return None
    try:
        path = await tool.resolve_path(arguments)
    except (ToolError, OSError):
        return None
    root = await folder.root()
    if path is None or path == root or not folder.backend.contains(root, path):
        return None
    return relative_to(root, path)
