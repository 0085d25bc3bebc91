"""A server over real HTTP on loopback, in a thread: what those in this folder have in common."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class LoopbackServer:
    """Serves from the moment it is made until `stop`; each request gets a handler whose `state` this is."""

    def __init__(self, handler: type[LoopbackHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"state": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class LoopbackHandler(BaseHTTPRequestHandler):
    """Keeps connections open, and says nothing on standard error."""

    protocol_version = "HTTP/1.1"
    state: Any

    def log_message(self, *args: Any) -> None:
        pass
