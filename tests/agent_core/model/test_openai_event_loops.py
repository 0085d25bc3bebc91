"""One model in several event loops."""

import asyncio

from agent_core.model import OpenAIChatModel
from tests.agent_core.model.conftest import answer
from tests.fake_server import FakeServer, reply, serving_in_thread, text


def test_a_model_works_in_one_event_loop_after_another():
    """As in a script that calls `asyncio.run` twice."""
    with serving_in_thread(FakeServer()) as server:
        server.play(reply(text("one")), reply(text("two")))
        model = OpenAIChatModel("m", base_url=server.base_url)

        async def once() -> str:
            try:
                return (await answer(model))[0].text
            finally:
                await model.aclose()

        assert [asyncio.run(once()), asyncio.run(once())] == ["one", "two"]
