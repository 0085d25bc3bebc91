"""The Lua scripts: each is one operation, which Redis runs whole or not at all, with nothing in between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from memory.working.plain_text import escape, unescape
from memory.working.store import Names

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.commands.core import AsyncScript

SCHEMA = "1"

_GLOB = re.compile(rb"[*?\[\]\\]")
_KEYS_AT_ONCE = 1_000

Argument = str | int | bool | Sequence[str]


def keys_of(prefix: str, user_id: str, session_id: str) -> list[str]:
    """The keys of one user's session, in the order in which the scripts know them."""
    names = (quote(escape(name), safe="") for name in (user_id, session_id))
    start = ":".join((f"{prefix}mnemoscope", *names))
    return [f"{start}:{part}" for part in ("order", "bodies", "heads", "ids", "by_mark", "state")]


class Scripts:
    """Runs the scripts on the keys of one session.

    Args:
        client: a client; whether it decodes what it receives does not matter.
        keys: from `keys_of`.
        ttl: seconds after a write until all keys expire together; None for never.
    """

    def __init__(self, client: Redis, keys: Sequence[str], ttl: int | None) -> None:
        self._client = client
        self._keys = [key.encode() for key in keys]
        self._ttl = "" if ttl is None else str(ttl)
        self._scripts: dict[str, AsyncScript] = {}

    async def names(self) -> list[Names]:
        """The users and sessions whose keys begin with the same prefix."""
        start, _, _, part = self._keys[-1].rsplit(b":", 3)
        pattern = b":".join((_GLOB.sub(rb"\\\g<0>", start), b"*", b"*", part))
        keys = [key async for key in self._client.scan_iter(match=pattern, count=_KEYS_AT_ONCE)]
        return [_names_in(key.encode() if isinstance(key, str) else key) for key in keys]

    async def run(self, name: str, *arguments: Argument) -> Any:
        """Run a script. A list is passed with its length before it, a truth value as 1 or 0."""
        script = self._scripts.get(name) or self._load(name)
        flat = [SCHEMA, self._ttl]
        for argument in arguments:
            if isinstance(argument, str | int):
                flat.append(str(int(argument)) if isinstance(argument, int) else argument)
            else:
                flat.extend((str(len(argument)), *argument))
        return await script(keys=self._keys, args=[text.encode() for text in flat])

    def _load(self, name: str) -> AsyncScript:
        folder = files(__package__) / "lua"
        text = "\n".join((folder / f"{part}.lua").read_text(encoding="utf-8") for part in ("prelude", name))
        script: AsyncScript = self._client.register_script(text)
        self._scripts[name] = script
        return script


def _names_in(key: bytes) -> Names:
    _, user, session, _ = key.rsplit(b":", 3)
    return Names(*(unescape(unquote(name.decode())) for name in (user, session)))
