"""Enough of the Mem0 Platform's API, over HTTP on loopback, for mem0's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.fake_server.http import Head, read_request, send_json

PAGE = 2


class PlatformStub:
    """Keeps memories by user; a write is queued, as the real one does it, and done at once.

    Attributes:
        requests: method, path and body of every request.
        status: what every request but the ping gets; 200 for none of that.
        headers: sent with it.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, Any]]] = []
        self.status = 200
        self.headers: dict[str, str] = {}
        self.port = 0
        self._memories: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[PlatformStub]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        yield self
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_request(reader)
        if head is not None:
            body = json.loads(head.body or b"{}")
            self.requests.append((head.method, head.path, body))
            status, answer = self._answer(head, body)
            await send_json(writer, answer, status, self.headers)
        writer.close()

    def _answer(self, head: Head, body: dict[str, Any]) -> tuple[int, Any]:
        path, _, query = head.path.partition("?")
        if not head.headers.get("authorization", "").startswith("Token "):
            return 401, {"detail": "no key"}
        if path == "/v1/ping/":
            return 200, {"org_id": "o", "project_id": "p", "user_email": None}
        if self.status != 200:
            return self.status, {"detail": "the platform says no"}
        if path == "/v3/memories/add/":
            return 200, self._add(body)
        if "user_id" in body:
            return 400, {"detail": "user_id must be in filters"}
        if path == "/v3/memories/search/":
            return 200, {"results": self._of(body)[: body["top_k"]]}
        if path == "/v3/memories/":
            return 200, self._page(self._of(body), query)
        if path == "/v1/memories/" and head.method == "DELETE":
            self._memories.clear()
            return 200, {"message": "Memories deleted successfully!"}
        return 404, {"detail": "not found"}

    def _add(self, body: dict[str, Any]) -> Any:
        for message in body["messages"]:
            if message["role"] == "user":
                number = len(self._memories)
                row = {"id": f"m{number}", "memory": message["content"], "user_id": body["user_id"], "score": 0.5}
                self._memories.append({**row, "created_at": "2026-11-30T12:00:00-08:00"})
        return {"message": "queued", "status": "PENDING", "event_id": f"e{len(self._memories)}"}

    def _of(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        return [row for row in self._memories if row["user_id"] == body["filters"]["user_id"]]

    def _page(self, rows: list[dict[str, Any]], query: str) -> dict[str, Any]:
        number = int(dict(pair.split("=") for pair in query.split("&"))["page"])
        last = number * PAGE >= len(rows)
        part = rows[(number - 1) * PAGE : number * PAGE]
        return {"count": len(rows), "next": None if last else "more", "previous": None, "results": part}
