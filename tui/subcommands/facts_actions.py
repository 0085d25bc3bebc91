"""What `mnemoscope facts` can do. Each action prints its outcome and returns the exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from agent_core.errors import StorageError
from memory.mem0 import Fact, Mem0Middleware
from tui.cli import Options
from tui.config import Settings
from tui.forgetting import forget_everything
from tui.literal_text import harmless_json, visible_line
from tui.prompt_history import PromptHistory
from tui.subcommands.facts_text import change_line, fact_line, written_lines
from tui.views.figures import plural

Action = Callable[[Mem0Middleware, Options, Settings], Awaitable[int]]


async def list_facts(memory: Mem0Middleware, options: Options, settings: Settings) -> int:
    """All facts."""
    await _open(memory)
    facts = await memory.facts.list()
    _print_all(options, facts, map(fact_line, facts), f"There are no facts about {memory.scope.user} yet.")
    return 0


async def search(memory: Mem0Middleware, options: Options, settings: Settings) -> int:
    """The facts that fit a question."""
    question = " ".join(options.group["question"]).strip()
    if not question:
        return _misused("The question is empty: say what is looked for, as in `mnemoscope facts search tea`.")
    await _open(memory)
    facts = await memory.facts.search(question, options.group["limit"])
    _print_all(options, facts, map(fact_line, facts), "Nothing was found.")
    return 0


async def add(memory: Mem0Middleware, options: Options, settings: Settings) -> int:
    """Store a fact."""
    text = " ".join(options.group["text"]).strip()
    if not text:
        return _misused("The fact is empty: say what is to be remembered.")
    await _open(memory)
    written = await memory.facts.add(text)
    value = {"finish": written.finish, "changes": list(written.changes), "detail": written.detail}
    _print_all(options, [value], written_lines(written))
    return 0


async def delete(memory: Mem0Middleware, options: Options, settings: Settings) -> int:
    """Delete a fact."""
    await _open(memory)
    change = await memory.facts.delete((await _find(memory, options.group["id"])).id)
    _print_all(options, [change], [f"Deleted: {change.text}  ({change.memory_id}; its history keeps it until forget)"])
    return 0


async def history(memory: Mem0Middleware, options: Options, settings: Settings) -> int:
    """What has happened to a fact, also to one that is deleted."""
    await _open(memory)
    wanted = options.group["id"].strip()
    known = [fact.id for fact in await memory.facts.list() if fact.id.startswith(wanted)] if wanted else []
    changes = await memory.facts.history(known[0] if len(known) == 1 else wanted) if wanted else ()
    if not changes:
        raise _unknown(memory, wanted)
    _print_all(options, [change._asdict() for change in changes], map(change_line, changes))
    return 0


async def forget(memory: Mem0Middleware, options: Options, settings: Settings) -> int:
    """Forget everything about the user, in every place; 1 when something could not be reached."""
    user = memory.scope.user
    if not options.group["yes"]:
        return _misused(
            f"This deletes all facts about {user} for good, their history, and of every session all that was said since"
            f" they took part in it{_also(settings)}. Say --yes to do it."
        )
    await _open(memory)
    forgotten = await forget_everything(
        settings, memory, PromptHistory(settings.data_dir and settings.data_dir / "history.jsonl")
    )
    _print_all(options, [forgotten], [f"Forgotten about {user}:", *(f"  {line}" for line in forgotten.lines)])
    return 1 if forgotten.left else 0


async def reindex(memory: Mem0Middleware, options: Options, settings: Settings) -> int:
    """Embed all facts anew."""
    told = sys.stderr.isatty()

    def progress(done: int, total: int) -> None:
        if told:
            print(f"\r{done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)

    count = await memory.facts.reindex(progress)
    built = memory.store.built
    model = built.embedder.model_id if built and built.embedder else ""
    _print_all(options, [{"embedded": count, "model": model}], [f"Made {plural(count, 'fact')} comparable by {model}."])
    return 0


ACTIONS: dict[str, Action] = {
    "list": list_facts,
    "search": search,
    "add": add,
    "delete": delete,
    "history": history,
    "forget": forget,
    "reindex": reindex,
}


async def _open(memory: Mem0Middleware) -> None:
    """Open the memory, and tell what a person should know about it."""
    await memory.start()
    for notice in memory.store.built.notices if memory.store.built else ():
        print(f"mnemoscope: {visible_line(notice)}", file=sys.stderr)


async def _find(memory: Mem0Middleware, wanted: str) -> Fact:
    """The one fact whose id begins so."""
    wanted = wanted.strip()
    found = [fact for fact in await memory.facts.list() if fact.id.startswith(wanted)] if wanted else []
    exact = [fact for fact in found if fact.id == wanted]
    if len(exact or found) > 1:
        raise StorageError(f"Several facts begin with {wanted!r}: {', '.join(fact.id for fact in found)}.")
    if not found:
        raise _unknown(memory, wanted)
    return (exact or found)[0]


def _also(settings: Settings) -> str:
    return "; in the memory store also the sessions of that user that were begun elsewhere" if settings.memory else ""


def _unknown(memory: Mem0Middleware, wanted: str) -> StorageError:
    return StorageError(f"{memory.scope.user} has no fact of the id {wanted!r}; `mnemoscope facts list` shows the ids.")


def _print_all(options: Options, values: Iterable[Any], lines: Iterable[str], nothing: str = "") -> None:
    """The values as JSON, one a line, or the lines for people, control characters made visible."""
    if options.json:
        for value in values:
            # Not by msgspec alone: what mem0 keeps with a fact may be of any type.
            print(harmless_json(json.dumps(msgspec.to_builtins(value, enc_hook=str), ensure_ascii=False)))
        return
    printed = False
    for line in lines:
        printed = True
        print(visible_line(line))
    if nothing and not printed:
        print(nothing)


def _misused(text: str) -> int:
    print(f"mnemoscope: {visible_line(text)}", file=sys.stderr)
    return 2
