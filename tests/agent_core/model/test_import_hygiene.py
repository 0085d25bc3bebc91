"""Importing models is cheap: the SDK comes with the first call."""

import subprocess
import sys

import pytest

HEAVY = ("openai", "httpx", "httpx2", "pydantic", "numpy")


@pytest.mark.parametrize(
    "statement",
    [
        "import agent_core.model, agent_core.embedding",
        "from agent_core.model import OpenAIChatModel; OpenAIChatModel('m', base_url='http://127.0.0.1:1')",
        "from agent_core.embedding import OpenAIEmbeddingModel; OpenAIEmbeddingModel('m')",
    ],
)
def test_nothing_heavy_is_imported(statement):
    code = f"{statement}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
