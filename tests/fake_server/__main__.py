"""Run the server by itself: `python -m tests.fake_server --port 8123`."""

from __future__ import annotations

import argparse
import asyncio

from tests.fake_server.demo import demo_brain
from tests.fake_server.server import FakeServer


async def serve(port: int) -> None:
    """Serve until interrupted."""
    server = FakeServer(brain=demo_brain)
    await server.start(port)
    print(f"OpenAI-compatible demo server at {server.base_url}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.fake_server", description=__doc__)
    parser.add_argument("--port", type=int, default=8123)
    try:
        asyncio.run(serve(parser.parse_args().port))
    except KeyboardInterrupt:
        pass
