"""`memory rename`, `pin`, `unpin`, `disable` and `enable`."""

from __future__ import annotations

from memory.agentic.writer import Written
from tui.subcommands.memory.call import Call

_DONE = {
    "pin": "is pinned: it is recalled before all others",
    "unpin": "is pinned no more",
    "disable": "is disabled: it is kept, and not recalled",
    "enable": "is in use again",
}
_SAME = {
    "pin": "is pinned already",
    "unpin": "is not pinned",
    "disable": "is disabled already",
    "enable": "is not disabled",
}


async def rename(call: Call) -> int:
    """Call a memory otherwise."""
    old = await call.book.find(call.given["name"])
    written = await call.book.rename(old, call.given["new"])
    tell(call, written, f"{old} is called {written.path} now.", f"{old} is called that already.")
    return 0


async def pin(call: Call) -> int:
    """Pin a memory."""
    return _told(call, await call.book.pin(await call.book.find(call.given["name"])))


async def unpin(call: Call) -> int:
    """Pin a memory no more."""
    return _told(call, await call.book.pin(await call.book.find(call.given["name"]), False))


async def disable(call: Call) -> int:
    """Take a memory out of use."""
    return _told(call, await call.book.disable(await call.book.find(call.given["name"])))


async def enable(call: Call) -> int:
    """Take a memory back into use."""
    return _told(call, await call.book.disable(await call.book.find(call.given["name"]), False))


def tell(call: Call, written: Written, done: str, same: str) -> None:
    """Print what a change came to, `same` where there was nothing to change."""
    ids = [entry.id for entry in written.entries]
    call.out.value({"action": call.given["action"], "path": written.path, "entries": ids})
    call.out.line(done if ids else same)


def _told(call: Call, written: Written) -> int:
    action = call.given["action"]
    tell(call, written, f"{written.path} {_DONE[action]}.", f"{written.path} {_SAME[action]}.")
    return 0
