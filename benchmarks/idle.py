"""What an idle program costs: processor and memory, Mnemoscope against an empty app, at the same time.

Targets: below 0.5 % of a core, below 80 MiB, with mem0 below 150 MiB.
"""

from __future__ import annotations

import time

from benchmarks.program import EMPTY_APP, MNEMOSCOPE, READY, Program

SETTLE_SECONDS = 5.0
IDLE_SECONDS = 30.0


def main() -> None:
    commands = {"empty app": EMPTY_APP, "mnemoscope": MNEMOSCOPE, "with mem0": [*MNEMOSCOPE, "--mem0", "both"]}
    programs = {name: Program(command) for name, command in commands.items()}
    try:
        for program in programs.values():
            program.wait_for(READY)
        _let_pass(programs, SETTLE_SECONDS)
        before = {name: program.cpu_seconds() for name, program in programs.items()}
        _let_pass(programs, IDLE_SECONDS)
        for name, program in programs.items():
            share = (program.cpu_seconds() - before[name]) / IDLE_SECONDS
            held, private = program.memory_mib()
            print(f"idle         {name:<10}  {share:.2%} of a core  {held:.0f} MiB, {private:.0f} of them its own")
    finally:
        for program in programs.values():
            program.close()


def _let_pass(programs: dict[str, Program], seconds: float) -> None:
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        for program in programs.values():
            program.read_for(0.1)


if __name__ == "__main__":
    main()
