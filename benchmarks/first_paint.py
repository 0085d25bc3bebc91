"""From the start of the process to the first painted screen: Mnemoscope against an empty app, in turns.

Target: at most 1.5 times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.program import EMPTY_APP, MNEMOSCOPE, READY, Program

RUNS = 9
TARGET = 1.5


class Paint(NamedTuple):
    """Seconds to the first paint, on the clock and of a processor; a busy machine spoils the first only."""

    clock: float
    processor: float


def measure(command: Sequence[str]) -> Paint:
    """Start a program and wait for its first paint."""
    program = Program(command)
    try:
        return Paint(program.wait_for(READY) - program.started, program.cpu_seconds())
    finally:
        program.close()


def main() -> None:
    for command in (EMPTY_APP, MNEMOSCOPE):
        measure(command)  # warms the caches of the disk
    empty, ours = [], []
    for _ in range(RUNS):
        empty.append(measure(EMPTY_APP))
        ours.append(measure(MNEMOSCOPE))
    for kind in Paint._fields:
        before, after = (median(getattr(paint, kind) for paint in paints) for paints in (empty, ours))
        ratio = f"{after / before:.2f} times (target {TARGET})"
        print(f"first paint  {kind:<9}  empty app {before:.3f} s  mnemoscope {after:.3f} s  {ratio}")


if __name__ == "__main__":
    main()
