"""From the start of the process to the first painted screen: Mnemoscope against an empty app, in turns.

Target: at most 1.5 times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from benchmarks.program import EMPTY_APP, MNEMOSCOPE, READY, Program

RUNS = 9
TARGET = 1.5


def measure(command: Sequence[str]) -> float:
    """Seconds to the first paint."""
    program = Program(command)
    try:
        return program.wait_for(READY) - program.started
    finally:
        program.close()


def main() -> None:
    for command in (EMPTY_APP, MNEMOSCOPE):
        measure(command)  # warms the caches of the disk
    pairs = [(measure(EMPTY_APP), measure(MNEMOSCOPE)) for _ in range(RUNS)]
    empty, ours = (sorted(times) for times in zip(*pairs, strict=True))
    for name, times in (("empty app", empty), ("mnemoscope", ours)):
        print(f"first paint  {name:<10}  median {median(times):.3f} s  best {times[0]:.3f} s  worst {times[-1]:.3f} s")
    print(
        f"first paint  ratio       {median(ours) / median(empty):.2f} (best {ours[0] / empty[0]:.2f}, target {TARGET})"
    )


if __name__ == "__main__":
    main()
