"""Model servers on this machine, found by asking the usual ports for their models. Nothing is used unasked."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from agent_core.secret import Secret

USUAL_PORTS: Mapping[str, int] = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
_LARGEST_ANSWER = 1_000_000


class LocalServer(Struct, frozen=True):
    """A server that answers: what usually listens there, its address, the names of its models."""

    name: str
    base_url: str
    models: tuple[str, ...]

    @property
    def offer(self) -> str:
        """One line that says how to connect it."""
        others = f" (or {', '.join(self.models[1:4])}{'…' if len(self.models) > 4 else ''})" if self.models[1:] else ""
        return f"{self.name} runs on this machine. To use it: /model {self.models[0]} {self.base_url}{others}"


async def find_local_servers(ports: Mapping[str, int] = USUAL_PORTS, seconds: float = 1.0) -> list[LocalServer]:
    """Ask all ports at the same time; servers without a model are left out.

    Args:
        ports: where to ask, by the name of what usually listens there.
        seconds: how long each may take.
    """
    urls = {name: f"http://127.0.0.1:{port}/v1" for name, port in ports.items()}
    answers = await asyncio.gather(*(list_models(url, seconds=seconds) for url in urls.values()))
    found = zip(urls.items(), answers, strict=True)
    return [LocalServer(name, url, tuple(models)) for (name, url), models in found if models]


async def list_models(base_url: str, api_key: Secret | None = None, seconds: float = 1.0) -> list[str]:
    """The names of the models that an endpoint has; none when it gives no list in time. Never fails.

    This is a request of its own, so that the SDK need not be imported for it.
    """
    try:
        async with asyncio.timeout(seconds):
            body = await _get(f"{base_url.rstrip('/')}/models", api_key)
        return _model_names(json.loads(body))
    except (OSError, EOFError, TimeoutError, ValueError, RecursionError, asyncio.LimitOverrunError):
        return []


async def _get(url: str, api_key: Secret | None) -> bytes:
    """The body of what is at an address.

    Raises:
        OSError: no connection.
        ValueError: the answer is no success, or too large.
    """
    parts = urlsplit(url)
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=secure)
    try:
        # Of HTTP/1.0 the end of the connection is the end of the body; there are no chunks to put together.
        lines = [f"GET {parts.path} HTTP/1.0", f"Host: {parts.netloc.rpartition('@')[2]}", "Accept: application/json"]
        if api_key:
            lines.append(f"Authorization: Bearer {api_key.reveal()}")
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        head = await reader.readuntil(b"\r\n\r\n")
        if head.split(b" ", 2)[1:2] != [b"200"]:
            raise ValueError("no success")
        return await _body(reader, head)
    finally:
        writer.close()


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    """The body: as long as the head says, for servers that keep the connection open, or else all there is."""
    said = re.search(rb"^content-length:\s*(\d+)", head, re.MULTILINE | re.IGNORECASE)
    left = int(said[1]) if said else _LARGEST_ANSWER + 1
    if said and left > _LARGEST_ANSWER:
        raise ValueError("too large")
    body = b""
    while left > 0 and (piece := await reader.read(left)):
        body += piece
        left -= len(piece)
    if len(body) > _LARGEST_ANSWER:
        raise ValueError("too large")
    return body


def _model_names(document: Any) -> list[str]:
    rows = document.get("data") if isinstance(document, dict) else None
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [name for name in names if isinstance(name, str) and name]
