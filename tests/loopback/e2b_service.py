"""`E2BService`: speaks as much of E2B's API over real HTTP as its SDK uses for one sandbox.

No account is needed: the "sandbox" is this machine. The control plane connects to the sandbox; its daemon runs programs
over the Connect protocol (envelopes of JSON) and takes files as forms. The network between can be cut after so many
bytes of what a program writes, or of a file.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from email import message_from_bytes
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback.http import LoopbackHandler, LoopbackServer

ID, KEY = "i0123456789abcdef", "e2b_0123456789abcdef"


class E2BService(LoopbackServer):
    """One sandbox. `home` is where its user is at home; a login shell there says `greeting`."""

    def __init__(self, home: Path, greeting: str = "") -> None:
        self.home = home
        self.greeting = greeting
        self.cut_after: int | None = None
        super().__init__(_Handler)

    @property
    def environ(self) -> dict[str, str]:
        """What leads the SDK here."""
        url = f"http://{self.address}"
        return {"E2B_API_KEY": KEY, "E2B_API_URL": url, "E2B_SANDBOX_URL": url, "E2B_HTTP_VERSION": "1.1"}


class _Handler(LoopbackHandler):
    state: E2BService

    def do_GET(self) -> None:
        self._answer(204 if self.path == "/health" else 404, b"")

    def do_POST(self) -> None:
        length, cut = int(self.headers.get("content-length", 0)), self.state.cut_after
        url = urlsplit(self.path)
        if url.path == "/files" and cut is not None and length > cut:
            self._take_file(parse_qs(url.query)["path"][0], self.rfile.read(cut), is_whole=False)
            self.close_connection = True
            return
        body = self._body(length)
        if found := re.fullmatch(r"(?:/v2)?/sandboxes/(\w+)/connect", url.path):
            self._connect(found[1])
        elif url.path == "/files":
            self._take_file(parse_qs(url.query)["path"][0], body, is_whole=True)
        elif url.path == "/process.Process/Start":
            self._start(json.loads(body[5:])["process"])
        else:
            self._answer(404, b'{"code": "not_found", "message": "no such call"}')

    def _body(self, length: int) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(length)
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _connect(self, id_: str) -> None:
        if self.headers.get("x-api-key") != KEY:
            self._answer(401, b'{"code": 401, "message": "the key is not known"}')
        elif id_ != ID:
            self._answer(404, b'{"code": 404, "message": "no such sandbox"}')
        else:
            sandbox = {"sandboxID": ID, "templateID": "base", "clientID": "c", "envdVersion": "0.5.0"}
            self._answer(200, json.dumps(sandbox).encode())

    def _take_file(self, path: str, form: bytes, is_whole: bool) -> None:
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        if is_whole:
            edge = b"\r\n--" + message_from_bytes(head).get_boundary("").encode()
            data = form.partition(b"\r\n\r\n")[2].rpartition(edge)[0]
        else:
            data = form.partition(b"\r\n\r\n")[2]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)
        if is_whole:
            info = [{"path": path, "name": os.path.basename(path), "type": "file"}]
            self._answer(200, json.dumps(info).encode())

    def _start(self, process: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/connect+json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        # Without `-l`: what this machine's profile does is not the sandbox's.
        argv = [process["cmd"], *(word for word in process.get("args", ()) if word != "-l")]
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.state.home)}
        done = subprocess.run(argv, capture_output=True, env=environ, stdin=subprocess.DEVNULL)
        self._event({"start": {"pid": 1}})
        output, cut = self.state.greeting.encode() + done.stdout, self.state.cut_after
        if cut is not None and len(output) > cut:
            self._event({"data": {"stdout": base64.b64encode(output[:cut]).decode()}})
            return
        for name, data in (("stdout", output), ("stderr", done.stderr)):
            for start in range(0, len(data), 30_000):
                self._event({"data": {name: base64.b64encode(data[start : start + 30_000]).decode()}})
        self._event({"end": {"exitCode": done.returncode, "exited": True, "status": f"exit status {done.returncode}"}})
        self._envelope(2, {})

    def _event(self, event: dict[str, Any]) -> None:
        self._envelope(0, {"event": event})

    def _envelope(self, flags: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.wfile.write(bytes([flags]) + len(data).to_bytes(4, "big") + data)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
