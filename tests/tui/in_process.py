"""The command line in this process, with real files in place of the three standard streams."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from subprocess import CompletedProcess
from tempfile import TemporaryFile

import pytest

from tui.__main__ import main


def run(*arguments: str, stdin: bytes = b"") -> CompletedProcess[bytes]:
    """What a process of its own would give, but for the second that it takes to start one."""
    with _stream(stdin) as given, _stream() as out, _stream() as errors, pytest.MonkeyPatch.context() as patch:
        for name, stream in (("stdin", given), ("stdout", out), ("stderr", errors)):
            patch.setattr(sys, name, stream)
        return CompletedProcess(arguments, _exit_code(arguments), _written(out), _written(errors))


def _exit_code(arguments: tuple[str, ...]) -> int:
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


def _stream(content: bytes = b"") -> TextIOWrapper:
    file = TemporaryFile()  # noqa: SIM115  Its wrapper closes it.
    file.write(content)
    file.seek(0)
    return TextIOWrapper(file, encoding="utf-8")


def _written(stream: TextIOWrapper) -> bytes:
    stream.flush()
    stream.buffer.seek(0)
    return stream.buffer.read()
