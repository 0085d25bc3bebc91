"""Working memory and long-term memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_core.marks import MemoryFilter, decide, select
from memory.agentic.middleware import AgenticMemoryMiddleware
from memory.working.base import MemoryBase
from memory.working.in_memory import InMemoryMemory

if TYPE_CHECKING:
    from memory.mem0.middleware import Mem0Middleware
    from memory.working.redis.memory import RedisMemory
    from memory.working.sql.memory import SQLAlchemyMemory

__all__ = [
    "AgenticMemoryMiddleware",
    "InMemoryMemory",
    "Mem0Middleware",
    "MemoryBase",
    "MemoryFilter",
    "RedisMemory",
    "SQLAlchemyMemory",
    "decide",
    "select",
]

_ON_DEMAND = {
    "Mem0Middleware": "memory.mem0.middleware",
    "RedisMemory": "memory.working.redis.memory",
    "SQLAlchemyMemory": "memory.working.sql.memory",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ON_DEMAND[name]), name)
