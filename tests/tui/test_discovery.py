"""Servers on this machine are found, offered, and not used unasked."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import sys

import pytest

from agent_core.secret import Secret
from tests.fake_server import FakeServer
from tui.discovery import USUAL_PORTS, LocalServer, find_local_servers, list_models


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_running_server_is_found_with_its_models_and_an_absent_one_is_not(openai_server: FakeServer) -> None:
    openai_server.models = {"qwen3:8b": {}, "gemma3": {}}
    found = await find_local_servers({"Ollama": openai_server.port, "vLLM": free_port()})
    assert found == [LocalServer("Ollama", openai_server.base_url, ("qwen3:8b", "gemma3"))]


async def test_the_offer_is_one_line_with_the_command_that_connects_it(openai_server: FakeServer) -> None:
    openai_server.models = {name: {} for name in "abcde"}
    (server,) = await find_local_servers({"LM Studio": openai_server.port})
    expected = f"LM Studio runs on this machine. To use it: /model a {openai_server.base_url} (or b, c, d…)"
    assert server.offer == expected


async def test_a_server_without_models_is_not_offered(openai_server: FakeServer) -> None:
    openai_server.models = {}
    assert await find_local_servers({"Ollama": openai_server.port}) == []


async def test_the_key_goes_along(openai_server: FakeServer) -> None:
    openai_server.api_key = "sk-right"
    assert await list_models(openai_server.base_url, Secret("sk-right")) == ["m"]
    assert await list_models(openai_server.base_url, Secret("sk-wrong")) == []


class RawServer:
    """Answers every connection with the same bytes, and closes or stays open."""

    def __init__(self, answer: bytes, *, stays_open: bool = False) -> None:
        self._answer = answer
        self._stays_open = stays_open

    async def __aenter__(self) -> str:
        self._left = asyncio.Event()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def __aexit__(self, *error: object) -> None:
        self._left.set()
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self._answer)
        if self._stays_open:
            await self._left.wait()
        writer.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.0 404 Not Found\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n<html>a router</html>",
        b"HTTP/1.0 200 OK\r\n\r\n[]",
        b'HTTP/1.0 200 OK\r\n\r\n{"data": {"id": "m"}}',
        b'HTTP/1.0 200 OK\r\n\r\n{"data": [7, {"id": null}, {"id": ""}]}',
        b"HTTP/1.0 200 OK\r\n\r\n" + b"[" * 100_000,
        b"HTTP/1.0 200 OK\r\ncontent-length: 99999999\r\n\r\n{}",
        b"HTTP/1.0 200 OK\r\n\r\n" + b" " * 1_000_001 + b'{"data": [{"id": "m"}]}',
        b"x" * 200_000,
    ],
)
async def test_whatever_else_listens_there_is_no_server_and_no_error(answer: bytes) -> None:
    async with RawServer(answer) as url:
        assert await list_models(url) == []


async def test_a_server_that_keeps_the_connection_open_is_read_by_its_length() -> None:
    body = b'{"data": [{"id": "m"}]}'
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    async with RawServer(answer, stays_open=True) as url:
        assert await list_models(url, seconds=30) == ["m"]


async def test_a_silent_server_is_given_up_on() -> None:
    async with RawServer(b"", stays_open=True) as url:
        assert await list_models(url, seconds=0.05) == []


async def test_an_address_that_makes_no_sense_gives_nothing() -> None:
    for url in ("http://127.0.0.1:99999/v1", "http://", f"https://127.0.0.1:{free_port()}/v1", "http://no.invalid/v1"):
        assert await list_models(url) == []


async def test_a_server_that_speaks_no_tls_is_no_error(openai_server: FakeServer) -> None:
    assert await list_models(openai_server.base_url.replace("http:", "https:")) == []
    assert issubclass(ssl.SSLError, OSError)


def test_asking_needs_no_sdk() -> None:
    program = "import sys, tui.discovery; print('openai' in sys.modules, 'httpx' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "False False\n"


def test_the_usual_ports_are_those_of_the_usual_servers() -> None:
    assert dict(USUAL_PORTS) == {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
