"""A server over real HTTP on loopback, in a thread: what those in this folder have in common."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Server(ThreadingHTTPServer):
    # With the usual five, connections are refused when several are made at once on a busy machine.
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked may have gone meanwhile, about which nothing need be said."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class LoopbackServer:
    """Serves from the moment it is made until `stop`; each request gets a handler whose `state` this is."""

    def __init__(self, handler: type[LoopbackHandler]) -> None:
        self.going_on = threading.Event()
        self.going_on.set()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (handler,), {"state": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While it is entered, connections stay and nothing is answered."""
        self.going_on.clear()
        try:
            yield
        finally:
            self.going_on.set()

    def stop(self) -> None:
        self.going_on.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class LoopbackHandler(BaseHTTPRequestHandler):
    """Keeps connections open, and says nothing on standard error."""

    protocol_version = "HTTP/1.1"
    state: Any

    def parse_request(self) -> bool:
        self.state.going_on.wait()
        return super().parse_request()

    def log_message(self, *args: Any) -> None:
        pass
