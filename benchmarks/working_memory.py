"""Working memory in the process, in SQLite and in Redis, beside that of AgentScope 1.0.21.

`python -m benchmarks.working_memory --agentscope-python PATH`, with the Python of an environment that has
`agentscope==1.0.21 'mcp<1.25' tqdm aiosqlite greenlet redis`; without it only our side is measured. Needs redis-server.
AgentScope's 50,000 adds alone take minutes.

Targets, as AgentScope's time over ours: 50,000 adds 100, marking half 200, deleting 20; SQLite one by one 2, a
thousand at once 20, reading 5. Redis: an add costs the same at 100 and at 50,000 messages.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from tests.databases import RedisServer

LOAD = Path(__file__).with_name("working_memory_load.py")
TURNS = {"sqlite": 3}
"""How often the sides take turns, so that neither has a quieter machine; of each figure the least counts."""
PARTS = {"in_memory": "In the process, processor time", "sqlite": "SQLite, flushed at every commit", "redis": "Redis"}


def measure(python: str, side: str, part: str, address: str) -> dict[str, float]:
    """One side's figures, from a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(LOAD.parent.parent) if side == "mnemoscope" else ""}
    command = [python, str(LOAD), side, part, address]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd="/")
    if done.returncode:
        raise SystemExit(f"{side} failed:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def show(title: str, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """A table of one part."""
    print(f"\n{title:<34}{'mnemoscope':>12}{'AgentScope':>14}{'ratio':>9}", flush=True)
    for what, figure in ours.items():
        their_figure = theirs.get(what)
        other = "" if their_figure is None else f"{written(what, their_figure):>14}{their_figure / figure:>9.1f}"
        print(f"{what:<34}{written(what, figure):>12}{other}", flush=True)


def written(what: str, figure: float) -> str:
    """A figure with its unit."""
    if what.startswith("bytes"):
        return f"{figure:,.0f}"
    units = ((1, 1, "s"), (1e-4, 1e3, "ms"), (0, 1e6, "µs"))
    factor, unit = next((factor, unit) for least, factor, unit in units if figure >= least)
    return f"{figure * factor:,.2f} {unit}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agentscope-python", metavar="PATH", help="a Python that has AgentScope 1.0.21")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    options = parser.parse_args()
    sides = {"mnemoscope": sys.executable, "agentscope": options.agentscope_python}
    server = RedisServer()
    for part in options.part or PARTS:
        figures: dict[str, dict[str, float]] = {}
        with tempfile.TemporaryDirectory(prefix="mnemoscope-bench-") as folder:
            if part == "redis":
                server.start()
            for turn, (side, python) in product(range(TURNS.get(part, 1)), sides.items()):
                file = Path(folder) / f"{side}{turn}.db"
                address = {"sqlite": str(file), "redis": str(server.port)}.get(part, "-")
                measured = measure(python, side, part, address) if python else {}
                known = figures.get(side, measured)
                figures[side] = {what: min(figure, known[what]) for what, figure in measured.items()}
            server.stop()
        show(PARTS[part], figures["mnemoscope"], figures["agentscope"])
    server.remove()


if __name__ == "__main__":
    main()
