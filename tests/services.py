"""Programs that some tests need beside Python: which there are, and what to do where one is absent."""

from __future__ import annotations

import os
import shutil

import pytest

SERVICES = {
    "tmux": ("tmux",),
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "redis": ("redis-server",),
}
"""The names under which each service may be installed."""
REQUIRED = os.environ.get("MNEMOSCOPE_REQUIRE_SERVICES", "") not in ("", "0")
"""Whether an absent service is a failure, as it is in CI, and not a reason to skip."""


def find(service: str) -> str | None:
    """The path of a service's program; None when it is absent."""
    return next((path for name in SERVICES[service] if (path := shutil.which(name))), None)


def require(service: str) -> str:
    """The path of a service's program. Without it the running test is skipped, or fails where it is required."""
    path = find(service)
    if path is None:
        text = f"{service} is not installed"
        pytest.fail(text) if REQUIRED else pytest.skip(text)
    return path


def report() -> list[str]:
    """One line for each service that is absent."""
    return [f"{name} is not installed: the tests that need it are left out" for name in SERVICES if not find(name)]
