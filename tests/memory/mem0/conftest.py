"""A model, an embedding model and a memory for each test, all real but for what the scripted server says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agent_core.embedding import OpenAIEmbeddingModel
from agent_core.model import OpenAIChatModel
from memory.mem0 import Mem0Middleware
from tests.fake_server import FakeServer
from tests.memory.mem0.brain import Brain

# Test modules import mem0 themselves, before the program could see to this.
os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))

Make = Callable[..., Mem0Middleware]


@pytest.fixture
def brain(openai_server: FakeServer) -> Brain:
    """What the scripted server answers: to people, and to those who want memories extracted."""
    brain = Brain()
    openai_server.brain = brain
    return brain


@pytest.fixture
async def chat_model(openai_server: FakeServer, brain: Brain) -> AsyncIterator[OpenAIChatModel]:
    model = OpenAIChatModel("m", base_url=openai_server.base_url)
    yield model
    await model.aclose()


@pytest.fixture
async def embedding_model(openai_server: FakeServer) -> AsyncIterator[OpenAIEmbeddingModel]:
    model = OpenAIEmbeddingModel("e", base_url=openai_server.base_url)
    yield model
    await model.aclose()


@pytest.fixture
async def make(
    tmp_path: Path, chat_model: OpenAIChatModel, embedding_model: OpenAIEmbeddingModel
) -> AsyncIterator[Make]:
    """Makes middlewares of alice in one folder, and closes them at the end."""
    made: list[Mem0Middleware] = []

    def make(**options: Any) -> Mem0Middleware:
        defaults: dict[str, Any] = {
            "user_id": "alice",
            "chat_model": chat_model,
            "embedding_model": embedding_model,
            "data_dir": tmp_path,
            "search_timeout": 60.0,
        }
        made.append(Mem0Middleware(**{**defaults, **options}))
        return made[-1]

    yield make
    for middleware in made:
        await middleware.aclose()
