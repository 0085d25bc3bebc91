from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_core.tool import CallContext, serving

NOBODY = 65534


@pytest.fixture
def call() -> Iterator[CallContext]:
    """The context of an agent's calls, with a read record of its own."""
    with serving(CallContext()) as context:
        yield context


@pytest.fixture
def as_nobody() -> Iterator[Callable[[], Path]]:
    """Become a user whom file modes bind, for the rest of the test; gives a folder that belongs to them."""
    folders: list[Path] = []
    user = os.geteuid()

    def become() -> Path:
        folder = Path(tempfile.mkdtemp())
        folders.append(folder)
        if user == 0:
            os.chown(folder, NOBODY, -1)
            os.seteuid(NOBODY)
        return folder

    yield become
    os.seteuid(user)
    for folder in folders:
        folder.chmod(0o755)
        shutil.rmtree(folder)
