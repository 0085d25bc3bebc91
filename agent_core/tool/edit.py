"""`Edit`: replaces text inside of a file."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_core.errors import ToolError
from agent_core.paths import one_line
from agent_core.tool.file_tool import PATH_SCHEMA, ChangingTool, told
from agent_core.tool.replacement import find_replacements, lines_of, moved, replaced

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": PATH_SCHEMA,
        "old_string": {"type": "string", "description": "The text to be replaced."},
        "new_string": {"type": "string", "description": "What takes its place."},
        "replace_all": {"type": "boolean", "description": "Replace it wherever it is; false by default."},
    },
    "required": ["file_path", "old_string", "new_string"],
}


class Edit(ChangingTool):
    """Replaces an exact text, in parts of the file that `Read` has shown; every byte outside of it stays as it is.

    That holds for line ends of both kinds, a byte order mark, and bytes that are not UTF-8. New lines get the line end
    that is in use around them.
    """

    name = "Edit"
    description = (
        "Replaces old_string by new_string in a file that has been read. old_string must be the exact text, without "
        "line numbers, and be in the file once, or replace_all must be set."
    )
    input_schema = _SCHEMA

    async def call(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> str:
        """One line that says what was done.

        Raises:
            ToolError: there is no such file; it was not read there, or has changed since; the text is not in it, or
                more than once; nothing would change; it cannot be written.
        """
        path = await self.permitted_path(file_path)
        # Looked at before locking, which would make the folders of a mistyped path.
        with told("find", path):
            if await self.backend.stat(path) is None:
                raise ToolError(f"there is no file {one_line(path)}: use Write to make it")
        async with self.locked(path):
            before = await self.present_bytes(path) or b""
            reads = self.require_read(path, before)
            places = await asyncio.to_thread(find_replacements, before, old_string, new_string, replace_all)
            unseen = [place.found[0] for place in places if not reads.has_shown(self.backend.name, path, place.found)]
            if unseen:
                where = lines_of(before, unseen)
                raise ToolError(f"old_string is at {where}, which Read has not shown: Read that part first")
            after = replaced(before, places)
            await self.replace(path, before, after, moved(reads.shown(self.backend.name, path), places))
        return f"Edited {one_line(path)} at {lines_of(before, [place.start for place in places])}."

    def changed(self, before: bytes | None, arguments: dict[str, Any]) -> bytes:
        """See `ChangingTool`."""
        if before is None:
            raise ToolError("there is no such file")
        old, new = arguments["old_string"], arguments["new_string"]
        return replaced(before, find_replacements(before, old, new, arguments.get("replace_all", False)))
