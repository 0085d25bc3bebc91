"""`Read`: shows the model a text file."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_core.errors import ToolError
from agent_core.paths import one_line
from agent_core.tool.base import current_call
from agent_core.tool.file_kind import binary_kind
from agent_core.tool.file_tool import MAX_BYTES, PATH_SCHEMA, FileTool
from agent_core.tool.page import MOST_LINES, make_page

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": PATH_SCHEMA,
        "offset": {"type": "integer", "minimum": 1, "description": "Number of the first line; 1 by default."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_LINES,
            "description": f"How many lines; {MOST_LINES} by default.",
        },
    },
    "required": ["file_path"],
}


class Read(FileTool):
    """Shows lines of a text file and records which part of which version was shown.

    `Edit` then takes the parts that were shown, and `Write` replaces the file once all of it was. At most `MAX_BYTES`
    of a file are looked at; what is larger can be read up to there but not changed.
    """

    name = "Read"
    description = (
        "Shows a text file with line numbers. A large file comes in pieces: go on with offset. A very long line is "
        "cut; limit=1 shows more of it. A file must be read before it is changed."
    )
    input_schema = _SCHEMA
    is_read_only = True
    is_concurrency_safe = True

    async def call(self, file_path: str, offset: int = 1, limit: int = MOST_LINES) -> str:
        """Lines with their numbers, and notes in brackets on whatever is not shown.

        Raises:
            ToolError: there is no such text file, or `offset` or `limit` is below 1.
        """
        if offset < 1 or limit < 1:
            raise ToolError("offset and limit count from 1")
        path = await self.permitted_path(file_path)
        data = await self.read_bytes(path)
        if kind := binary_kind(data):
            raise ToolError(f"{one_line(path)} is {kind}, not text, and cannot be shown")
        is_whole_file = len(data) <= MAX_BYTES
        page = await asyncio.to_thread(make_page, data[:MAX_BYTES], offset, limit, is_whole_file=is_whole_file)
        if is_whole_file:
            await asyncio.to_thread(current_call().reads.remember, self.backend.name, path, data, page.spans)
        return page.text
