"""What the first paint must not wait for."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "openai", "httpx", "pydantic", "mem0", "qdrant_client", "numpy", "sqlalchemy", "redis", "frontmatter", "yaml",
    "markdown_it", "pygments", "rich.markdown", "textual.widgets._markdown",
)  # fmt: skip


def test_building_the_screen_imports_nothing_heavy() -> None:
    code = "import sys, tui.app, tui.chat; print(' '.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(result.stdout.split())
