"""The memory of Markdown files beside that of AgentScope 2.0.11: a turn, a scan, the prompt.

    python -m benchmarks.agentic_memory [--agentscope-python PATH]

with the Python of an environment that has `agentscope==2.0.11`; without it only our side is measured. The sides take
turns, so that both have the same machine. Of AgentScope the middleware alone is measured, of us the whole reply.

Targets: a turn with 2,000 files takes AgentScope 20 times our CPU; a scan of 20,000 unchanged files takes us at most
twice a bare `os.scandir` with `stat`; instructions and an empty index are at most a third of AgentScope's 3,500 tokens.
The embedder that is an extra adds the embedding of the question to a turn, which is shown by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from agent_core.tokens import estimate_tokens
from memory.search import load_bundled_embedder

LOAD = Path(__file__).with_name("agentic_memory_load.py")
BASE = "You help."
FILES = 2_000
SCANNED_FILES = 20_000
ROUNDS = 15
NOTE = """---
name: {subject} {number}
description: what was agreed on the {subject} with the {place} in the {season}
type: project
---

The {subject} of the {place} is due in the {season}. **Why:** the {other} depends on it.
**How to apply:** ask the {place} before anything about the {subject} is changed.
"""
SUBJECTS = (
    "server",
    "budget",
    "contract",
    "lease",
    "recipe",
    "garden",
    "invoice",
    "holiday",
    "bicycle",
    "piano",
    "thesis",
    "router",
    "menu",
    "survey",
)
PLACES = (
    "harbour",
    "library",
    "school",
    "clinic",
    "bakery",
    "theatre",
    "museum",
    "garage",
    "station",
    "studio",
    "embassy",
    "farm",
    "airport",
)
SEASONS = ("spring", "summer", "autumn", "winter", "holidays")

NAMES = {
    "bare": "os.scandir and stat, for comparison",
    "words": "mnemoscope",
    "meaning": "mnemoscope, question embedded",
    "agentscope": "AgentScope 2.0.11",
}

Ask = Callable[[str], Any]


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mnemoscope-bench-")


def fill(folder: str, files: int) -> None:
    """Make a memory folder with so many memories and an empty index."""
    memory = Path(folder, "Memory")
    memory.mkdir()
    (memory / "MEMORY.md").touch()
    for number in range(files):
        words = {
            "subject": SUBJECTS[number % len(SUBJECTS)],
            "place": PLACES[number % len(PLACES)],
            "season": SEASONS[number % len(SEASONS)],
            "other": SUBJECTS[number // 7 % len(SUBJECTS)],
        }
        (memory / f"note-{number}.md").write_text(NOTE.format(number=number, **words))


@contextmanager
def side(name: str, python: str, folder: str) -> Iterator[Ask]:
    """One side in a process of its own, which answers line by line."""
    environment = {**os.environ, "PYTHONPATH": "" if name == "agentscope" else str(LOAD.parent.parent)}
    with subprocess.Popen(
        [python, str(LOAD), name, folder],
        env=environment,
        cwd="/",
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if name == "agentscope" else None,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to_process, from_process = process.stdin, process.stdout

        def ask(line: str) -> Any:
            print(line, file=to_process, flush=True)
            while not (answer := from_process.readline()).startswith(("{", '"', *"0123456789")):
                if not answer:
                    raise SystemExit(f"{name} failed")
            return json.loads(answer)

        yield ask
        to_process.close()


def bare_scan(folder: str) -> float:
    """CPU seconds of the least that can be done to notice changes."""
    started = process_time()
    with os.scandir(Path(folder, "Memory")) as entries:
        for entry in entries:
            entry.stat()
    return process_time() - started


def rounds(asks: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The median of each, taken in turns."""
    figures: dict[str, list[float]] = {name: [] for name in asks}
    for _ in range(ROUNDS):
        for name, ask in asks.items():
            figures[name].append(ask())
    return {name: median(values) for name, values in figures.items()}


def measure(command: str, files: int, sides: Mapping[str, str]) -> dict[str, float]:
    """What one command costs each side with so many files, in CPU seconds."""
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        fill(folder, files)
        asks = {name: stack.enter_context(side(name, python, folder)) for name, python in sides.items()}
        for ask in asks.values():
            ask("ready")
        work: dict[str, Callable[[], float]] = {name: partial(ask, command) for name, ask in asks.items()}
        return rounds({"bare": partial(bare_scan, folder), **work})


def prompt_tokens(sides: Mapping[str, str]) -> dict[str, float]:
    """What each side adds to the system prompt while there are no memories."""
    tokens = {}
    with temporary_folder() as folder:
        fill(folder, 0)
        for name, python in sides.items():
            with side(name, python, folder) as ask:
                tokens[name] = float(estimate_tokens(ask("prompt").removeprefix(BASE)))
    return tokens


def show(title: str, figures: Mapping[str, float], base: str, unit: str) -> None:
    """A table of one measurement; `base` is what the others are compared with."""
    print(f"\n{title}")
    for name, figure in figures.items():
        written = f"{figure * 1e3:10,.1f} ms" if unit == "ms" else f"{figure:10,.0f} {unit}"
        print(f"  {NAMES[name]:<34}{written}{figure / figures[base]:10.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agentscope-python", metavar="PATH", help="a Python that has AgentScope 2.0.11")
    options = parser.parse_args()
    theirs = {"agentscope": options.agentscope_python} if options.agentscope_python else {}
    ours = {"words": sys.executable}
    embedder, reason = load_bundled_embedder()
    if embedder is None:
        print(reason, file=sys.stderr)
    both = {**ours, **({"meaning": sys.executable} if embedder else {}), **theirs}
    show(f"A turn with {FILES:,} files, CPU", measure("turn", FILES, both), "words", "ms")
    scans = measure("scan", SCANNED_FILES, {**ours, **theirs})
    show(f"A scan of {SCANNED_FILES:,} unchanged files, CPU", scans, "bare", "ms")
    show("Instructions and an empty index in each prompt", prompt_tokens({**ours, **theirs}), "words", "tokens")


if __name__ == "__main__":
    main()
