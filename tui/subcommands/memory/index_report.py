"""`memory show MEMORY.md`: the index, and what of it goes into prompts."""

from __future__ import annotations

from agent_core.errors import StorageError
from agent_core.tokens import estimate_tokens
from memory.agentic.folder import INDEX_NAME
from memory.agentic.index import fit_index
from memory.agentic.parameters import Parameters
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.output import counted


async def show_index(call: Call) -> int:
    """Print the index with a mark where it is cut in prompts.

    Raises:
        StorageError: there is none.
    """
    index = await call.book.folder.read_index()
    if not index.found:
        raise StorageError(f"There is no index: none at {index.path}.")
    limit = Parameters().memory_max_tokens
    fitted = fit_index(index.text, limit)
    call.out.value(
        {
            "path": INDEX_NAME,
            "file": index.path,
            "badges": [index.badge] if index.badge else [],
            "lines": fitted.lines,
            "injected_lines": fitted.injected_lines,
            "cut_line": fitted.cut_line,
            "tokens": estimate_tokens(fitted.text),
            "max_tokens": limit,
            "text": index.text,
        }
    )
    call.out.line(index.path)
    call.out.line(
        f"Loaded {fitted.injected_lines} of {counted(fitted.lines, 'line')} into prompts: "
        f"≈ {estimate_tokens(fitted.text):,} of {limit:,} tokens."
    )
    if index.badge:
        call.out.warn(f"{INDEX_NAME}: {index.badge}")
    call.out.line()
    lines = index.text.splitlines()
    cut = fitted.cut_line - 1 if fitted.cut_line is not None else len(lines)
    call.out.text("\n".join(lines[:cut]))
    if fitted.cut_line is not None:
        call.out.line(f"──── not in prompts: lines {fitted.cut_line} to {fitted.lines} ────")
        call.out.text("\n".join(lines[cut:]))
    return 1 if index.badge else 0
