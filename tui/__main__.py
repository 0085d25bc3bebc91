"""The command `mnemoscope`, also `python -m tui`. What a command does not need is not imported for it.

Exit codes: 0, 1 for an error, 2 for usage, 128+n for a signal.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from tui.cli import GROUPS, Options, parse

if TYPE_CHECKING:
    from tui.config import Settings

_CLOSED_PIPE = 128 + 13
"""The number of SIGPIPE, which not every system has."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = parse(arguments)
    if options.command == "chat":
        # While modules are loaded there is hardly any garbage, and looking for it delays the first paint by a tenth.
        gc.disable()
        # So often Textual paints what has changed, at most; a key that just missed it waits for up to two turns.
        # How often something is drawn is decided elsewhere.
        os.environ.setdefault("TEXTUAL_FPS", "240")
    for stream in (sys.stdout, sys.stderr):
        # A locale without UTF-8 costs characters, not the answer; and JSON, which is UTF-8 always, not even those.
        if hasattr(stream, "reconfigure"):
            is_json = options.json and stream is sys.stdout
            stream.reconfigure(encoding="utf-8" if is_json else None, errors="replace")
    try:
        return _dispatch(options)
    except BrokenPipeError:
        # Whoever read us has gone; nothing is left to be told, not even when the interpreter flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except KeyboardInterrupt:
        # Pressed before there was a loop to take it, such as while modules are loaded.
        return 128 + signal.SIGINT


def _dispatch(options: Options) -> int:
    from agent_core.errors import MnemoscopeError
    from tui.config import load_settings
    from tui.log import log_path, log_warnings_to, write_down

    if sys.stdout is None:
        # Every print would succeed, and say nothing.
        return _complain("Standard output is closed: what was asked for would go nowhere.", 1)
    try:
        settings = load_settings(options.settings)
    except MnemoscopeError as error:
        return _complain(str(error), 1)
    log_warnings_to(log_path(settings))
    try:
        return _COMMANDS[options.command](options, settings)
    except MnemoscopeError as error:
        return _complain(str(error), 1)
    except BrokenPipeError:
        raise
    except Exception as error:
        if _has_no_room(error):
            return _complain(f"What was asked for cannot be written: {error.strerror}; free some space.", 1)
        place = write_down(error, log_path(settings))
        return _complain(f"An internal error: {type(error).__name__}: {error}. Its details are in {place}.", 1)


def _chat(options: Options, settings: Settings) -> int:
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout)) or os.environ.get("TERM") == "dumb":
        return _complain("This needs a terminal. For one answer without a screen: mnemoscope ask '…'", 2)
    from tui.chat import chat

    return _run(chat(options, settings))


def _ask(options: Options, settings: Settings) -> int:
    from tui.ask import ask, read_question

    question = read_question(options)
    if not question:
        return _complain("There is no question: type it behind `ask`, or send it to standard input.", 2)
    return _run(ask(options, settings, question))


def _sessions(options: Options, settings: Settings) -> int:
    from tui.list_sessions import list_sessions

    return list_sessions(options, settings)


def _config(options: Options, settings: Settings) -> int:
    from tui.config import describe

    print(describe(settings), end="")
    for warning in settings.warnings:
        _complain(warning, 0)
    return 0


def _group(options: Options, settings: Settings) -> int:
    from importlib import import_module

    code: int = import_module(f"tui.subcommands.{options.command}").run(options, settings)
    return code


_COMMANDS: dict[str, Callable[[Options, Settings], int]] = {
    "chat": _chat,
    "ask": _ask,
    "sessions": _sessions,
    "config": _config,
    **dict.fromkeys(GROUPS, _group),
}


def _run(command: Coroutine[Any, Any, int]) -> int:
    """Run a command to its end; a signal cancels it, so that everything is put in order before the program ends."""
    received: list[int] = []

    async def run() -> int:
        task = asyncio.ensure_future(command)

        def stop(number: int) -> None:
            received.append(number)
            task.cancel()

        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and sys.platform != "win32":
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
        try:
            return await task
        except asyncio.CancelledError:
            if not received:
                raise
        return 0

    code = asyncio.run(run())
    return 128 + received[0] if received else code


def _has_no_room(error: Exception) -> TypeGuard[OSError]:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def _complain(text: str, code: int) -> int:
    from tui.saying import say

    say(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
