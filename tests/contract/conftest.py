from __future__ import annotations

from tests.contract.backends import make_memory, memory

__all__ = ["make_memory", "memory"]
