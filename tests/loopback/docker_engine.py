"""`DockerEngine`: speaks as much of the Docker Engine API over real HTTP as the SDK uses for one running container.

No engine is needed: the "container" is this machine. What is executed is executed, by a real shell, and an archive that
is put is unpacked by tarfile, without replacing what is there in one step, as the engine does it. The network between
can be cut after so many bytes of an answer's stream, or of an archive.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import tarfile
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback.http import LoopbackHandler, LoopbackServer

VERSION = "1.47"


class DockerEngine(LoopbackServer):
    """One container, `web`. `home` is where its user is at home; `status` may be changed."""

    def __init__(self, home: Path, shell: str | None = None) -> None:
        self.home = home
        self.shell = shell
        self.status = "running"
        self.cut_after: int | None = None
        self.hides_uploads = False
        self.execs: dict[str, dict[str, Any]] = {}
        self.numbers = count()
        super().__init__(_Handler)

    @property
    def host(self) -> str:
        """For `DOCKER_HOST`."""
        return f"tcp://{self.address}"


class _Handler(LoopbackHandler):
    state: DockerEngine

    def do_GET(self) -> None:
        path = self._path()
        if path == "/version":
            self._answer(200, {"ApiVersion": VERSION, "MinAPIVersion": "1.24"})
        elif path in ("/containers/web/json", "/containers/cafe/json"):
            self._answer(200, {"Id": "cafe", "Name": "/web", "State": {"Status": self.state.status}})
        elif found := re.fullmatch(r"/exec/(\w+)/json", path):
            made = self.state.execs[found[1]]
            self._answer(200, {"ID": found[1], "Running": made["code"] is None, "ExitCode": made["code"]})
        else:
            self._answer(404, {"message": f"No such container: {path.split('/')[2]}"})

    def do_POST(self) -> None:
        path = self._path()
        given = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        if path == "/containers/cafe/exec":
            if self.state.status != "running":
                self._answer(409, {"message": "container cafe is not running"})
                return
            number = f"e{next(self.state.numbers)}"
            self.state.execs[number] = {"argv": given["Cmd"], "code": None}
            self._answer(201, {"Id": number})
        elif found := re.fullmatch(r"/exec/(\w+)/start", path):
            self._start(self.state.execs[found[1]])

    def do_PUT(self) -> None:
        assert self._path() == "/containers/cafe/archive"
        length = int(self.headers["content-length"])
        cut = self.state.cut_after
        data = self.rfile.read(length if cut is None else min(length, cut))
        folder = parse_qs(urlsplit(self.path).query)["path"][0]
        if not self.state.hides_uploads:
            with tarfile.open(fileobj=io.BytesIO(data), errorlevel=0) as tar:
                for member in tar:
                    with open(os.path.join(folder, member.name), "wb") as file:
                        file.write(data[member.offset_data :][: member.size])
                    os.chmod(os.path.join(folder, member.name), member.mode)
        if cut is not None and length > cut:
            self.close_connection = True
            return
        self._answer(200, {})

    def _path(self) -> str:
        return re.sub(r"^/v[\d.]+", "", urlsplit(self.path).path)

    def _start(self, made: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.docker.multiplexed-stream")
        self.end_headers()
        self.close_connection = True
        argv = made["argv"]
        if self.state.shell and argv[0] == "sh":
            argv = [*self.state.shell.split(), *argv[1:]]
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.state.home)}
        done = subprocess.run(argv, capture_output=True, env=environ, stdin=subprocess.DEVNULL)
        stream = _frames(1, done.stdout) + _frames(2, done.stderr)
        cut = self.state.cut_after
        self.wfile.write(stream if cut is None else stream[:cut])
        if cut is None or len(stream) <= cut:
            made["code"] = done.returncode

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _frames(stream: int, data: bytes) -> bytes:
    size = 32 * 1024
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(bytes([stream, 0, 0, 0]) + len(piece).to_bytes(4, "big") + piece for piece in pieces)
