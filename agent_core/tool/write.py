"""`Write`: makes a text file, or replaces one."""

from __future__ import annotations

import asyncio
import codecs
from typing import Any

from agent_core.errors import ToolError
from agent_core.paths import one_line
from agent_core.text import well_formed
from agent_core.tool.file_tool import PATH_SCHEMA, ChangingTool

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": PATH_SCHEMA,
        "content": {"type": "string", "description": "All that the file will hold."},
    },
    "required": ["file_path", "content"],
}


class Write(ChangingTool):
    """Makes a file with the given content, its folders too; replaces one only if all of it was read as it is now.

    What the model cannot see of the old file stays: a byte order mark, and CRLF where every line ends so. A file that
    is not UTF-8 is refused, since replacing it would change its encoding.
    """

    name = "Write"
    description = (
        "Makes a text file with the given content, and missing folders; or replaces the whole content of one that has "
        "been read completely. To change a part, use Edit."
    )
    input_schema = _SCHEMA

    async def call(self, file_path: str, content: str) -> str:
        """One line that says what was done.

        Raises:
            ToolError: the file was not read, or not all of it, or has changed since; it holds just this already; it is
                not UTF-8; it cannot be written.
        """
        path = await self.permitted_path(file_path)
        async with self.locked(path):
            before = await self.present_bytes(path)
            if before is not None and not self.require_read(path, before).has_shown(self.backend.name, path):
                raise ToolError(f"only a part of {one_line(path)} has been read: Read the rest first, or use Edit")
            after = await asyncio.to_thread(self.changed, before, {"content": content})
            await self.replace(path, before, after)
        lines = after.count(b"\n") + (not after.endswith(b"\n") and after != b"")
        done = "Made" if before is None else "Replaced"
        return f"{done} {one_line(path)}: {lines:,} line{'' if lines == 1 else 's'}, {len(after):,} bytes."

    def changed(self, before: bytes | None, arguments: dict[str, Any]) -> bytes:
        """See `ChangingTool`."""
        after = well_formed(arguments["content"]).encode()
        if before is None:
            return after
        _require_utf8(before)
        if before.startswith(codecs.BOM_UTF8) and not after.startswith(codecs.BOM_UTF8):
            after = codecs.BOM_UTF8 + after
        if 0 < before.count(b"\n") == before.count(b"\r\n"):
            after = after.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        if after == before:
            raise ToolError("the file holds just this already: nothing was changed")
        return after


def _require_utf8(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise ToolError(
            "the file is not UTF-8 and would be written anew in another encoding: use Edit to change a part"
        ) from error
