"""`memory search`: the local search that also runs for every reply; no model is asked."""

from __future__ import annotations

import hashlib
from pathlib import Path

from agent_core.tool import LocalBackend
from memory.agentic.local_search import FoundFile, LocalSearch
from memory.agentic.parameters import Parameters
from tui.subcommands.memory.call import Call
from tui.subcommands.memory.looking import facts_of, what_of

_PATIENCE = 10.0
"""Seconds to wait, at most, until new memories can be found by their meaning; the next search goes on from there."""


async def search(call: Call) -> int:
    """Print the memories that fit best, with the reasons."""
    local_search = LocalSearch.of(call.book.folder, Parameters(retrieval_vectors=await _vectors(call)))
    try:
        scan = await call.book.folder.scan()
        files = [file for file in scan.files if file.is_text]
        found = await local_search.rank(" ".join(call.given["words"]), files, call.given["limit"], _PATIENCE)
        remark = local_search.remark
    finally:
        local_search.close()
    await _print(call, found)
    for problem in scan.problems:
        call.out.warn(problem)
    if remark and files:
        call.out.warn(f"Searched {remark}.")
    return 1 if scan.problems else 0


async def _print(call: Call, found: list[FoundFile]) -> None:
    cards = {card.file.path: card for card in await call.book.memories()}
    for hit in found:
        card = cards.get(hit.file.path)
        known = facts_of(card) if card else {"path": hit.file.relative}
        call.out.value({**known, "score": round(hit.score, 4), "is_related": hit.is_related, "why": hit.why})
        call.out.line(f"{hit.score:.2f}  {hit.file.relative}  {what_of(hit.file)}")
        call.out.line(f"      {hit.why or 'the best of what is left'}{'' if hit.is_related else '; hardly related'}")
    if not found:
        call.out.line("No memory fits.")


async def _vectors(call: Call) -> str | None:
    """The file that keeps the vectors of this memory folder; None when no home folder is known."""
    data_dir: Path | None = call.settings.data_dir
    backend, root = call.book.folder.backend, await call.book.folder.root()
    place = root if isinstance(backend, LocalBackend) else f"{backend.name}{root}"
    name = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return str(data_dir / "vectors" / f"{name}.db") if data_dir else None
