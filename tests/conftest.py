"""What all tests share: the scripted server, and a wall around this machine."""

from __future__ import annotations

import gc
import socket
from collections.abc import AsyncIterator, Iterator
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import services
from tests.fake_server import FakeServer

# How fast a machine is, and how busy, says nothing about what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_reached_out: list[str] = []


def _is_allowed(host: str) -> bool:
    try:
        address = ip_address(host)
        return address.is_loopback or address.is_unspecified
    except ValueError:
        return host in ("", "localhost")


def _walled(connect: Any) -> Any:
    def connect_here_only(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_allowed(address[0]):
            _reached_out.append(str(address[0]))
            raise OSError(f"tests may not connect to {address[0]}")
        return connect(self, address)

    return connect_here_only


def _resolve_here_only(resolve: Any) -> Any:
    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and not _is_allowed(name):
            # `.invalid` is the name of what does not exist; tests may ask for that.
            if not name.endswith(".invalid"):
                _reached_out.append(name)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve(host, *args, **kwargs)

    return getaddrinfo


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, not among all that was imported: that is a tenth of their CPU."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the services that are absent."""
    for line in services.report():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session", autouse=True)
def _wall() -> Iterator[None]:
    """Nothing that a test starts in this process reaches beyond loopback."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _PROXY_VARIABLES:
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        patch.setattr(socket.socket, "connect", _walled(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", _walled(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", _resolve_here_only(socket.getaddrinfo))
        yield


@pytest.fixture(autouse=True)
def _no_network(_wall: None) -> Iterator[None]:
    """A test that tried to get out fails, even if the program took the error calmly."""
    _reached_out.clear()
    yield
    assert not _reached_out, f"this test tried to reach {', '.join(_reached_out)}"


@pytest.fixture
async def openai_server() -> AsyncIterator[FakeServer]:
    """A scripted OpenAI-compatible server."""
    server = FakeServer()
    await server.start()
    yield server
    await server.stop()
