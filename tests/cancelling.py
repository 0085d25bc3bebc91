"""Cancelling a task, as a person does who interrupts it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest


async def cancel(task: asyncio.Future[Any]) -> None:
    """Cancel a task, and see to it that it ends so."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
