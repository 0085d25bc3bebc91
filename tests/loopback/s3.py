"""`S3Server`: as much of the S3 API over real HTTP as botocore, below s3fs, uses for files.

Objects with ETags and ranges, conditional and multipart-free uploads, listings by prefix and delimiter in pages, and
URL-encoded names. Signatures are asked for but not computed. The network between can be cut: `cut_after` bytes of a
request's body, or of an answer.
"""

from __future__ import annotations

import hashlib
import time
from email.utils import formatdate
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.loopback.http import LoopbackHandler, LoopbackServer

PAGE = 100
"""Names in one answer of a listing, so that a second page is not rare."""


class _Object:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.modified = time.time()
        self.etag = f'"{hashlib.md5(data).hexdigest()}"'


class S3Server(LoopbackServer):
    """Buckets in memory. `objects` maps `bucket/key` to what is stored."""

    def __init__(self, *buckets: str) -> None:
        self.buckets = set(buckets)
        self.objects: dict[str, _Object] = {}
        self.is_refusing = False
        self.cut_after: int | None = None
        super().__init__(_Handler)

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def put(self, path: str, data: bytes) -> None:
        """What somebody else stores."""
        self.objects[path] = _Object(data)


class _Handler(LoopbackHandler):
    state: S3Server

    def do_GET(self) -> None:
        bucket, key, query = self._target()
        if not self._is_admitted(bucket):
            return
        if not key:
            self._list(bucket, query)
        else:
            self._send_object(f"{bucket}/{key}")

    def do_HEAD(self) -> None:
        bucket, key, _ = self._target()
        if not self._is_admitted(bucket):
            return
        if not key:
            self._answer(200)
        else:
            self._send_object(f"{bucket}/{key}")

    def do_PUT(self) -> None:
        bucket, key, _ = self._target()
        length = int(self.headers.get("content-length", 0))
        if self.state.cut_after is not None:
            self.rfile.read(min(length, self.state.cut_after))
            self._cut()
            return
        data = self.rfile.read(length)
        if "aws-chunked" in self.headers.get("content-encoding", ""):
            data = _dechunked(data)
        if not self._is_admitted(bucket):
            return
        path = f"{bucket}/{key}"
        present = self.state.objects.get(path)
        wanted = self.headers.get("if-match")
        if (wanted and (present is None or present.etag != wanted)) or (self.headers.get("if-none-match") and present):
            self._fail(412, "PreconditionFailed")
            return
        self.state.objects[path] = stored = _Object(data)
        self._answer(200, {"ETag": stored.etag})

    def do_DELETE(self) -> None:
        bucket, key, _ = self._target()
        if self._is_admitted(bucket):
            self.state.objects.pop(f"{bucket}/{key}", None)
            self._answer(204)

    def _target(self) -> tuple[str, str, dict[str, str]]:
        url = urlsplit(self.path)
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        return bucket, key, {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}

    def _is_admitted(self, bucket: str) -> bool:
        if self.state.is_refusing or "authorization" not in self.headers:
            self._fail(403, "AccessDenied")
            return False
        if bucket not in self.state.buckets:
            self._fail(404, "NoSuchBucket")
            return False
        return True

    def _send_object(self, path: str) -> None:
        found = self.state.objects.get(path)
        if found is None:
            self._fail(404, "NoSuchKey")
            return
        headers = {"ETag": found.etag, "Last-Modified": formatdate(found.modified, usegmt=True)}
        data, status = found.data, 200
        if "range" in self.headers:
            start, _, end = self.headers["range"].removeprefix("bytes=").partition("-")
            if int(start) >= len(data):
                self._fail(416, "InvalidRange")
                return
            last = min(int(end), len(data) - 1) if end else len(data) - 1
            headers["Content-Range"] = f"bytes {start}-{last}/{len(data)}"
            data, status = data[int(start) : last + 1], 206
        self._answer(status, headers, data)

    def _list(self, bucket: str, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        start, most = (
            bytes.fromhex(query.get("continuation-token", "")).decode(),
            min(int(query.get("max-keys", PAGE)), PAGE),
        )
        names: set[str] = set()
        for path in self.state.objects:
            owner, _, key = path.partition("/")
            if owner == bucket and key.startswith(prefix):
                front, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
                names.add(f"{prefix}{front}{delimiter}" if found else key)
        left = sorted(name for name in names if name > start)
        page, is_cut = left[:most], len(left) > most
        rows = "".join(self._row(bucket, name, delimiter, prefix) for name in page)
        token = f"<NextContinuationToken>{page[-1].encode().hex()}</NextContinuationToken>" if is_cut else ""
        self._answer(
            200,
            {"Content-Type": "application/xml"},
            (
                f'<?xml version="1.0"?><ListBucketResult><Name>{bucket}</Name><KeyCount>{len(page)}</KeyCount>'
                f"<IsTruncated>{str(is_cut).lower()}</IsTruncated><EncodingType>url</EncodingType>{token}{rows}"
                "</ListBucketResult>"
            ).encode(),
        )

    def _row(self, bucket: str, name: str, delimiter: str, prefix: str) -> str:
        if delimiter and name.endswith(delimiter) and name != prefix:
            return f"<CommonPrefixes><Prefix>{escape(quote(name))}</Prefix></CommonPrefixes>"
        found = self.state.objects[f"{bucket}/{name}"]
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(found.modified))
        return (
            f"<Contents><Key>{escape(quote(name))}</Key><LastModified>{when}</LastModified>"
            f"<ETag>{escape(found.etag)}</ETag><Size>{len(found.data)}</Size></Contents>"
        )

    def _fail(self, status: int, code: str) -> None:
        body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{code}</Message></Error>'
        self._answer(status, {"Content-Type": "application/xml"}, body.encode())

    def _answer(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        cut = self.state.cut_after
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None and len(body) > cut:
            self._cut()

    def _cut(self) -> None:
        self.wfile.flush()
        self.close_connection = True


def _dechunked(data: bytes) -> bytes:
    """The content of the `aws-chunked` encoding."""
    content = b""
    while data:
        head, _, data = data.partition(b"\r\n")
        size = int(head.split(b";")[0], 16)
        if size == 0:
            break
        content, data = content + data[:size], data[size + 2 :]
    return content
