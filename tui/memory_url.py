"""The address of a store of working memory: what can be told of it without opening it or importing its driver."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

_DRIVERS = {
    "sqlite": "aiosqlite",
    "postgresql": "asyncpg",
    "postgres": "asyncpg",
    "redis": "redis",
    "rediss": "redis",
    "unix": "redis",
}
"""The kinds of stores, and the package that reaches each unless the address names another one."""
_PASSWORD = re.compile(r"(?<=://)([^/@]*?):.*@|([?&]\w*password=)[^&#]*", re.DOTALL)
"""Up to the last @, since a password that is not in percent form may hold anything; or among the options."""
_UNREADABLE = "its port is no number; in a password, / is written %2F, # %23 and ? %3F"


def fault(url: str) -> str:
    """What is wrong with an address; empty when nothing is, as far as can be told by looking at it."""
    scheme, separator, rest = url.partition("://")
    kind = scheme.partition("+")[0]
    if not separator or kind not in _DRIVERS:
        return f"The memory store is at sqlite:///FILE, postgresql://… or redis://…, not at {without_password(url)!r}"
    if kind == "sqlite" and rest and not rest.startswith("/"):
        return f"An SQLite file is named after three slashes, as in sqlite:///chat.db, not as in {url!r}"
    try:
        _ = urlsplit(url).port
    except ValueError as error:
        # Only what Python says of ranges and brackets quotes nothing, and so no part of a password.
        known = str(error) if str(error).startswith(("Port out of range", "Invalid IPv6")) else _UNREADABLE
        return f"The address of the memory store {without_password(url)!r} cannot be read: {known}"
    return ""


def missing_package(url: str) -> str:
    """Which package is missing for a store, and the command that installs it; empty when none is."""
    kind, _, driver = url.partition("://")[0].partition("+")
    extra = "redis" if _DRIVERS[kind] == "redis" else "sql"
    usual = ["sqlalchemy", _DRIVERS[kind]] if extra == "sql" else ["redis"]
    if any(find_spec(name) is None for name in usual):
        return f"A memory store at {kind}://… needs packages that are missing: pip install 'mnemoscope[{extra}]'"
    if driver and (not driver.isidentifier() or find_spec(driver) is None):
        return f"A memory store at {kind}+{driver}://… needs the package {driver}; without +{driver} it is not needed."
    return ""


def without_password(url: str) -> str:
    """The address as it may be shown."""
    return _PASSWORD.sub(lambda found: f"{found[2]}…" if found[1] is None else f"{found[1]}:…@", url)


def anchored(url: str, folder: Path) -> str:
    """The address with a relative SQLite file taken from `folder`."""
    start, separator, file = url.partition(":///")
    if not separator or not start.startswith("sqlite") or not file or file.startswith(("/", "~", ":", "file:")):
        return url
    return f"{start}:///{folder / file}"
