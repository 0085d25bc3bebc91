"""Carrying out one action of `mnemoscope memory`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from agent_core.errors import StorageError
from agent_core.tool import LocalBackend
from memory.agentic.memory_disk import MemoryConflict
from tui.cli import Options
from tui.config import Settings
from tui.subcommands.memory import carrying, changing, deleting, history, linting, looking, searching, writing
from tui.subcommands.memory.call import Call, open_book
from tui.subcommands.memory.output import Output

_ACTIONS: dict[str, Callable[[Call], Awaitable[int]]] = {
    "list": looking.list_memories,
    "show": looking.show,
    "search": searching.search,
    "history": history.show_history,
    "export": carrying.export,
    "lint": linting.lint,
    "undo": history.undo,
    "new": writing.new,
    "edit": writing.edit,
    "rename": changing.rename,
    "delete": deleting.delete,
    "pin": changing.pin,
    "unpin": changing.unpin,
    "disable": changing.disable,
    "enable": changing.enable,
    "import": carrying.import_,
}
_INTERRUPTED = 128 + 2


def dispatch(options: Options, settings: Settings) -> int:
    """Carry out the action that was asked for, and return the exit code.

    Raises:
        StorageError: it cannot be done.
    """
    out = Output(options.json)
    try:
        return asyncio.run(_run(Call(open_book(settings), settings, out, options.group)))
    except MemoryConflict as conflict:
        out.warn(str(conflict))
        for line in conflict.diff.splitlines():
            out.warn(f"  {line}")
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"{error.filename or 'The memory'} cannot be reached: {error.strerror or error}.") from error
    except KeyboardInterrupt:
        return _INTERRUPTED


async def _run(call: Call) -> int:
    try:
        return await _carry_out(call)
    finally:
        await call.book.folder.backend.aclose()


async def _carry_out(call: Call) -> int:
    folder = call.book.folder
    if not isinstance(folder.backend, LocalBackend):
        # What cannot be reached is not empty.
        await folder.backend.stat(await folder.root())
    unseen = await _look(call)
    try:
        code = await _ACTIONS[call.given["action"]](call)
    except StorageError as error:
        if unseen and unseen not in str(error):
            call.out.warn(unseen)
        raise
    if unseen:
        call.out.warn(unseen)
    return code


async def _look(call: Call) -> str:
    """Have the history tell what others have done; what keeps it from that, in one line.

    Where nothing can be written, what is there can still be looked at; a change will say so itself.
    """
    try:
        await call.book.look()
    except StorageError as error:
        return str(error)
    return ""
