"""The work that `benchmarks.agentic_memory` measures, done by one side: `agentic_memory_load.py SIDE FOLDER`.

Runs under the Python of either side and imports nothing else of this project where that is AgentScope's. SIDE is
`agentscope`, `words` or `meaning`: ours without and with the bundled embedder. For each line on standard input it does
what the line says and answers with a line of JSON:

    ready    makes the first turn, and waits until all files have the vectors that they are to have
    turn     CPU seconds of one turn: system prompt, retrieval with a model that answers at once, hint
    scan     CPU seconds of listing the files with their headers
    prompt   the system prompt with what the memory adds
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from time import process_time
from typing import Any

QUESTION = "When do we move the server of the harbour office?"
CHOSEN = {"selected_files": ["note-7.md"]}
BASE = "You help."


class AgentScope:
    """The middleware alone, driven through its hooks with an agent that has only what they touch."""

    def __init__(self, folder: str) -> None:
        from agentscope.middleware import AgenticMemoryMiddleware

        self._memory = AgenticMemoryMiddleware(workdir=folder)
        self._agent = _StandIn()

    async def prompt(self) -> str:
        return await self._memory.on_system_prompt(self._agent, BASE)

    async def ready(self) -> None:
        await self.turn()

    async def scan(self) -> None:
        await self._memory._list_md_files()

    async def turn(self) -> None:
        from agentscope.message import UserMsg

        await self.prompt()
        async for _ in self._memory.on_reply(self._agent, {"inputs": UserMsg("user", QUESTION)}, self._reply):
            pass

    async def _reply(self, **_: Any) -> AsyncIterator[None]:
        await asyncio.wait([self._memory._retrieval_task])
        async for event in self._memory.on_reasoning(self._agent, {}, _nothing):
            yield event


class _StandIn:
    """Agent, model, answer and state in one."""

    name = "agent"
    content = CHOSEN

    @property
    def model(self) -> _StandIn:
        return self

    @property
    def state(self) -> _StandIn:
        return self

    async def generate_structured_output(self, *_: Any, **__: Any) -> _StandIn:
        return self

    def append_context(self, *_: Any) -> None:
        pass


async def _nothing(**_: Any) -> AsyncIterator[None]:
    for event in ():
        yield event


class Mnemoscope:
    """A whole agent that answers, the rest of its reply included."""

    def __init__(self, folder: str, *, with_embedder: bool) -> None:
        from agent_core.agent import Agent
        from agent_core.model.scripted_model import ScriptedChatModel
        from agent_core.tool import Edit, Read, Toolkit, Write
        from memory.agentic import AgenticMemoryMiddleware, Parameters

        embedder = "bundled" if with_embedder else None
        parameters = Parameters(retrieval_grace=60, retrieval_embedder=embedder)
        self._memory = AgenticMemoryMiddleware(folder, parameters=parameters)
        self._make = lambda: Agent(
            "agent",
            BASE,
            ScriptedChatModel(["Done."], structured=[CHOSEN]),
            Toolkit([Read(), Write(), Edit()]),
            [self._memory],
        )

    async def prompt(self) -> str:
        return BASE + "".join(part.text for part in await self._memory.on_system_prompt(self._make(), BASE))

    async def ready(self) -> None:
        await self.turn()
        search = self._memory._get_local_search()._search
        await asyncio.to_thread(search.wait_embedded)

    async def scan(self) -> None:
        await self._memory.folder.scan()

    async def turn(self) -> None:
        await self._make().reply(QUESTION)


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    started = process_time()
    await work()
    return process_time() - started


async def main(side: str, folder: str) -> None:
    driver = AgentScope(folder) if side == "agentscope" else Mnemoscope(folder, with_embedder=side == "meaning")
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        answer = await driver.prompt() if line == "prompt" else await timed(getattr(driver, line))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
