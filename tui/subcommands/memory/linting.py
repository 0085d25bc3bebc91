"""`memory lint`."""

from __future__ import annotations

import msgspec

from memory.agentic.lint import Problem
from memory.agentic.parameters import Parameters
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.output import counted


async def lint(call: Call) -> int:
    """Print what is not in order; with `--fix`, mend the index first. Returns 1 when something is left."""
    found = await _find(call)
    left = found
    if call.given["fix"] and await call.book.mend(found):
        left = await _find(call)
    still = {_subject(problem) for problem in left}
    fixed = [problem for problem in found if _subject(problem) not in still]
    for problem, is_fixed in [*((one, True) for one in fixed), *((one, False) for one in left)]:
        call.out.value({**msgspec.structs.asdict(problem), "is_fixed": is_fixed})
        call.out.line(_line(problem, is_fixed))
    fixable = sum(problem.fixable for problem in left)
    if fixable and not call.given["fix"]:
        call.out.line(f"{counted(fixable, 'problem')} can be mended without losing anything: add --fix.")
    if not found:
        call.out.line("All is in order.")
    return 1 if left else 0


async def _find(call: Call) -> list[Problem]:
    from tui.program_agent import SYSTEM_PROMPT

    return await call.book.lint(Parameters().memory_max_tokens, SYSTEM_PROMPT)


def _subject(problem: Problem) -> tuple[str, ...]:
    """What a finding is about, whichever its line: lines move when others are mended."""
    return (problem.kind, problem.path, problem.target, problem.text)


def _line(problem: Problem, is_fixed: bool) -> str:
    place = f"{problem.path or '.'}:{problem.line}" if problem.line else problem.path or "."
    return f"{place}: {problem.kind}: {problem.text}{' (mended)' if is_fixed else ''}"
