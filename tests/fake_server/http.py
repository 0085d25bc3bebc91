"""As much of HTTP/1.1 as the server needs, with control over every byte that it sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

_KNOWN_STATUSES = frozenset(HTTPStatus)


class Head(NamedTuple):
    """The request line and the headers, names in lower case, and the body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> Head | None:
    """The next request; None when the client closes without one."""
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = lines[0].split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Head(method, path, headers, body)


class Response:
    """Writes one response, then the connection is closed."""

    def __init__(self, writer: asyncio.StreamWriter, chunked: bool) -> None:
        self._writer = writer
        self._chunked = chunked

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status line and the headers."""
        phrase = HTTPStatus(status).phrase if status in _KNOWN_STATUSES else "Unofficial"
        lines = [f"HTTP/1.1 {status} {phrase}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if self._chunked:
            lines.append("transfer-encoding: chunked")
        await self._send("\r\n".join([*lines, "", ""]).encode())

    async def write(self, data: bytes) -> None:
        """Send bytes of the body, at once."""
        await self._send(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    async def end(self) -> None:
        """Say that the body is complete."""
        if self._chunked:
            await self._send(b"0\r\n\r\n")

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


async def send_json(writer: asyncio.StreamWriter, value: Any, status: int, headers: Mapping[str, str]) -> None:
    """Send a whole JSON document."""
    body = json.dumps(value).encode()
    response = Response(writer, chunked=False)
    await response.start(status, {"content-type": "application/json", "content-length": str(len(body)), **headers})
    await response.write(body)
