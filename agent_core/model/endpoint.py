"""Where a model is served: the address as it is used, and as it may be shown."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit, urlunsplit

from msgspec import Struct

OPENAI_BASE_URL = "https://api.openai.com/v1"


class Endpoint(Struct, frozen=True):
    """The base URL of an OpenAI-compatible API."""

    base_url: str

    def __str__(self) -> str:
        """The address for people: without a password, query or fragment."""
        parts = self._parts
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    def __repr__(self) -> str:
        return f"Endpoint({str(self)!r})"

    @property
    def host(self) -> str:
        """The host's name or number, in lower case."""
        return self._parts.hostname or ""

    @property
    def _parts(self) -> SplitResult:
        try:
            return urlsplit(self.base_url)
        except ValueError:
            # Such as "http://[1": shown as it is, and refused by the HTTP client when it is called.
            return SplitResult("", "", self.base_url, "", "")

    @property
    def is_local(self) -> bool:
        """Whether it is on this very machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False
