"""Every file of a memory folder, memories or not: what an export takes along and a check looks at."""

from __future__ import annotations

from collections.abc import AsyncIterator

from agent_core.tool.backend import FileInfo
from memory.agentic.folder import MemoryFolder
from memory.agentic.folder_paths import path_in


async def walk(folder: MemoryFolder) -> AsyncIterator[tuple[str, FileInfo]]:
    """The files in the folder and its subfolders, each with its path from the folder.

    Hidden ones are left out, and links, whose targets are listed where they are if they are inside.

    Raises:
        OSError: a folder cannot be listed.
    """
    root = await folder.root()
    prefixes = [""]
    while prefixes:
        prefix = prefixes.pop()
        try:
            found = await folder.backend.list_dir(path_in(root, prefix))
        except FileNotFoundError:
            continue
        for info in sorted(found, key=lambda one: one.name):
            if info.is_link or info.name.startswith("."):
                continue
            if info.is_dir:
                prefixes.append(f"{prefix}{info.name}/")
            else:
                yield prefix + info.name, info
