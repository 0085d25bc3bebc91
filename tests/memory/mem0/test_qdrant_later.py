"""The client of Qdrant is loaded when somebody uses it, and is as it always was then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_BUILD = """
import sys
from pathlib import Path
from memory.mem0.building import Recipe, build, close_memory
recipe = Recipe(folder=Path(sys.argv[1]) / "data", config={})
close_memory(build(recipe).memory)
assert "qdrant_client" not in sys.modules
"""
_MODULE = "mem0.configs.vector_stores.qdrant"


def run(program: str, tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MEM0_")}
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, env={**kept, "HOME": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "use",
    [
        # What mem0 takes when it is given no config.
        "config = mem0.Memory.__init__.__defaults__[0].vector_store.config",
        "config = copy.deepcopy(mem0.AsyncMemory.__init__.__defaults__[0]).vector_store.config",
        "config = mem0.configs.base.MemoryConfig().vector_store.config; assert type(config).__module__ == MODULE",
    ],
)
def test_our_store_does_without_it_and_others_have_it_afterwards(use: str, tmp_path: Path) -> None:
    check = """
assert config.model_dump()["collection_name"] == "mem0"
assert (config.path, config.embedding_model_dims) == ("/tmp/qdrant", 1536)
assert "qdrant_client" in sys.modules
"""
    run(f"{_BUILD}\nimport copy, mem0\nMODULE = {_MODULE!r}\n{use}\n{check}", tmp_path)
