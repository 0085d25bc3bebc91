"""Working memory and long-term memory."""

from agent_core.marks import MemoryFilter, decide, select
from memory.agentic.middleware import AgenticMemoryMiddleware
from memory.working.base import MemoryBase
from memory.working.in_memory import InMemoryMemory

__all__ = ["AgenticMemoryMiddleware", "InMemoryMemory", "MemoryBase", "MemoryFilter", "decide", "select"]
