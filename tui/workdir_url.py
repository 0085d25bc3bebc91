"""`WorkdirURL`: a workdir that is elsewhere, as it is typed: `sftp://…`, `s3://…`, `docker://…`, `e2b://…`, `memory://`."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from agent_core.secret import Secret
from tui.config_file import ConfigError

EXAMPLES = {
    "sftp": "sftp://ana@example.org/home/ana/notes",
    "s3": "s3://bucket/notes",
    "docker": "docker://container/srv/notes",
    "e2b": "e2b://sandbox-id/home/user/notes",
    "memory": "memory://",
}
"""By scheme, what may be typed."""
_HOME = "~"


class WorkdirURL(Struct, frozen=True, kw_only=True):
    """Where the files are. As a text it is a URL without the password, which is shown nowhere.

    Args:
        scheme: one of `EXAMPLES`.
        host: the server, bucket, container or sandbox; empty for `memory`.
        path: of the workdir there, as its back end takes it: absolute, or from `~`.
        user: empty for the one that the server's own configuration names.
        password: falsy when there is none, and keys are used.
        port: None for the usual one.
    """

    scheme: str
    host: str = ""
    path: str = _HOME
    user: str = ""
    password: Secret = Secret("")
    port: int | None = None

    def __str__(self) -> str:
        return self.place + quote(self._path_in_url, safe="/~ ").replace(" ", "%20")

    @property
    def place(self) -> str:
        """The URL without path and password: what tells one service from another."""
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{user}{host}{f':{self.port}' if self.port else ''}"

    @property
    def _path_in_url(self) -> str:
        path = f"/{self.path}" if self.path.startswith(_HOME) else self.path
        return path.removeprefix(f"/{self.host}") if self.scheme == "s3" else path


def is_url(text: str) -> bool:
    """Whether a workdir is given as a URL, and not as a folder of this machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def parse_workdir_url(text: str, source: str) -> WorkdirURL:
    """Read a URL.

    Args:
        text: as it was given.
        source: where it stands, for people.

    Raises:
        ConfigError: it names nothing that there is; never with the password.
    """
    scheme = text.partition("://")[0].lower()
    if scheme not in EXAMPLES:
        others = ", ".join(f"{each}://" for each in EXAMPLES)
        raise ConfigError(f"A workdir is a folder, or begins with one of {others}; not with {scheme}:// ({source}).")
    try:
        # What is behind a `#` or `?` belongs to the path.
        parts = urlsplit(f"{scheme}://{text.partition('://')[2]}".replace("#", "%23").replace("?", "%3F"))
        port = parts.port
    except ValueError:
        raise _unfit(scheme, source) from None
    # `hostname` is in lower case, which buckets are and names of containers need not be.
    host = unquote(parts.netloc.rpartition("@")[2].partition(":")[0]) if "[" not in parts.netloc else parts.hostname
    path, user, password = unquote(parts.path), unquote(parts.username or ""), unquote(parts.password or "")
    if (scheme != "memory" and not host) or (scheme != "sftp" and port) or "\0" in path:
        raise _unfit(scheme, source)
    if user and scheme != "sftp":
        raise ConfigError(f"{scheme}:// takes its keys from the environment, not from the workdir ({source}).")
    return WorkdirURL(
        scheme=scheme,
        host="" if scheme == "memory" else host or "",
        path=_path(scheme, host or "", path),
        user=user,
        password=Secret(password),
        port=port,
    )


def _path(scheme: str, host: str, path: str) -> str:
    if scheme in ("s3", "memory"):
        return "/" + f"{host}{path}".strip("/")
    if path in ("", "/", "/~"):
        return _HOME if path != "/" else "/"
    return path[1:] if path.startswith("/~/") else path.rstrip("/")


def _unfit(scheme: str, source: str) -> ConfigError:
    return ConfigError(f"This is no workdir ({source}); one of its kind is {EXAMPLES[scheme]}.")
