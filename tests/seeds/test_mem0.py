"""The chapter on long-term memory: its programs for mem0, with models and addresses of ours."""

from __future__ import annotations

import asyncio
import inspect
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent_core.agent import Agent
from agent_core.embedding import EmbeddingModelBase, OpenAIEmbeddingModel
from agent_core.event import FactsWritten, RetrievalSettled
from agent_core.message import HintBlock
from agent_core.model import ChatModelBase, OpenAIChatModel
from agent_core.tool import Toolkit
from memory.mem0 import Mem0Middleware
from tests.fake_server import FakeServer
from tests.memory.mem0.brain import Brain, memories
from tests.memory.mem0.platform_stub import PlatformStub

# The programs import mem0 themselves, before Mem0Middleware could see to this.
os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the platform keeps programs' data, for programs that name no folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "mnemoscope" / "mem0"


@pytest.fixture
def brain(openai_server: FakeServer) -> Brain:
    openai_server.brain = Brain()
    return openai_server.brain


@pytest.fixture
async def my_chat_model(openai_server: FakeServer, brain: Brain) -> AsyncIterator[ChatModelBase]:
    model = OpenAIChatModel("m", base_url=openai_server.base_url)
    yield model
    await model.aclose()


@pytest.fixture
async def my_embedding_model(openai_server: FakeServer) -> AsyncIterator[EmbeddingModelBase]:
    model = OpenAIEmbeddingModel("e", base_url=openai_server.base_url)
    yield model
    await model.aclose()


async def main(my_chat_model: ChatModelBase, my_embedding_model: EmbeddingModelBase, said: str) -> Agent:
    """The quick start."""
    mw = Mem0Middleware(
        user_id="alice",
        chat_model=my_chat_model,
        embedding_model=my_embedding_model,
        mode="both",
    )

    agent = Agent(
        name="assistant",
        system_prompt="You are a helpful assistant.",
        model=my_chat_model,
        toolkit=Toolkit(tools=await mw.list_tools()),
        middlewares=[mw],
    )

    await agent(said)
    await mw.aclose()
    return agent


def hints(agent: Agent) -> str:
    blocks = [block for entry in agent.memory.content for block in entry[0].get_content_blocks(HintBlock)]  # type: ignore[attr-defined]
    return "\n".join(block.hint for block in blocks)


async def test_what_one_session_writes_comes_up_in_the_next_one_of_the_same_user(
    my_chat_model: ChatModelBase, my_embedding_model: EmbeddingModelBase, brain: Brain, data_folder: Path
) -> None:
    brain.will_extract(memories("用户住在杭州", "用户偏好简洁的中文回答"))
    first = await main(my_chat_model, my_embedding_model, "请记住：我住在杭州，并且偏好简洁的中文回答。")
    assert [event.finish for event in first.trace.of(FactsWritten)] == ["stored"]
    assert first.toolkit.names == ("search_memory", "add_memory")
    second = await main(my_chat_model, my_embedding_model, "你还记得我住在哪里吗？")
    assert [event.outcome for event in second.trace.of(RetrievalSettled)] == ["injected"]
    assert "用户住在杭州" in hints(second)
    assert data_folder.joinpath("memory.db").exists()


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        ("static_control", []),
        ("agent_control", ["search_memory", "add_memory"]),
        ("both", ["search_memory", "add_memory"]),
    ],
)
async def test_each_mode_lists_its_tools(my_chat_model: ChatModelBase, mode: Any, names: list[str]) -> None:
    mw = Mem0Middleware(user_id="alice", chat_model=my_chat_model, mode=mode)
    assert [tool.name for tool in await mw.list_tools()] == names


async def test_the_models_can_go_with_a_config(
    my_chat_model: ChatModelBase, my_embedding_model: EmbeddingModelBase, brain: Brain, tmp_path: Path
) -> None:
    from mem0.configs.base import MemoryConfig

    my_mem0_config = MemoryConfig(
        vector_store={
            "provider": "qdrant",
            "config": {"path": str(tmp_path / "qdrant"), "embedding_model_dims": 64, "collection_name": "mine"},
        },
        history_db_path=str(tmp_path / "history.db"),
    )
    mw = Mem0Middleware(
        user_id="alice",
        chat_model=my_chat_model,
        embedding_model=my_embedding_model,
        mem0_config=my_mem0_config,
    )
    brain.will_extract(memories("Alice likes green tea"))
    await Agent("assistant", "You help.", my_chat_model, middlewares=[mw])("I like green tea.")
    assert [fact.text for fact in await mw.search("tea")] == ["Alice likes green tea"]
    assert (tmp_path / "qdrant").is_dir()
    assert (tmp_path / "history.db").is_file()
    await mw.aclose()


async def test_a_hosted_client_can_be_given(my_chat_model: ChatModelBase, data_folder: Path) -> None:
    from mem0 import AsyncMemoryClient

    async with PlatformStub().serving() as platform:
        client = await asyncio.to_thread(AsyncMemoryClient, api_key="m0-...", host=platform.url)
        mw = Mem0Middleware(
            user_id="alice",
            client=client,
        )
        agent = Agent("assistant", "You help.", my_chat_model, middlewares=[mw])
        await agent("I like green tea.")
        assert [event.finish for event in agent.trace.of(FactsWritten)] == ["accepted"]
        await agent("What do I like?")
        assert "I like green tea." in hints(agent)
        await mw.aclose()
        await client.async_client.aclose()
    # Nothing but what is kept until the service has taken it, should the program be killed meanwhile.
    assert {path.name.split("-")[0] for path in data_folder.iterdir()} == {"outbox.db"}


def test_the_parameters_have_the_names_and_defaults_of_the_chapter() -> None:
    parameters = inspect.signature(Mem0Middleware).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert defaults["user_id"] is inspect.Parameter.empty
    wanted = {
        "mode": "both",
        "agent_id": None,
        "top_k": 5,
        "threshold": None,
        "scope_search_by_agent": True,
        "await_write": True,
    }
    assert {name: defaults[name] for name in wanted} == wanted
