"""Forgetting everything about a user: their facts, and all that the program itself has kept of them elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agent_core.errors import MnemoscopeError
from agent_core.tool.local_files import read_file
from tui.config import Settings
from tui.log import log_path
from tui.prompt_history import PromptHistory
from tui.session_purge import Cut, cut_session
from tui.session_store import SessionStore
from tui.store_purge import StorePurge
from tui.unsent import unsent_path
from tui.views.figures import plural

if TYPE_CHECKING:
    from memory.mem0 import Mem0Middleware, Purged


class Forgotten(Struct, frozen=True, kw_only=True):
    """What was forgotten, place by place.

    Args:
        user: who.
        facts: what mem0 and the outbox held.
        sessions: the sessions that were cut or deleted.
        replies: replies that they have lost.
        messages: messages that they have lost.
        stored: messages that the memory store has lost, in sessions that were begun elsewhere too.
        prompts: typed prompts that the up key brought back, or that were never sent.
        copies: damaged files that had been put aside.
        is_log_emptied: whether the log, which may quote anything, held something.
        left: what could not be reached, one line each.
    """

    user: str
    facts: Purged
    sessions: tuple[Cut, ...] = ()
    replies: int = 0
    messages: int = 0
    stored: int = 0
    prompts: int = 0
    copies: int = 0
    is_log_emptied: bool = False
    left: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The same for people, a line for each place."""
        facts = self.facts
        gone = sum(cut.is_gone for cut in self.sessions)
        return [
            f"store: {_count(facts.memories, 'fact')}",
            f"history of the facts: {_count(facts.history, 'row')}, {_count(facts.messages, 'kept message')}",
            f"outbox: {_count(facts.waiting, 'waiting write')}",
            f"sessions: {len(self.sessions)} cut, {gone} of them to nothing",
            f"in them: {plural(self.replies, 'reply', 'replies')}, {_count(self.messages, 'message')}",
            *([f"memory store: {_count(self.stored, 'message')}"] if self.stored else []),
            f"typed prompts: {self.prompts}",
            f"damaged files put aside: {self.copies}; log: {'emptied' if self.is_log_emptied else 'was empty'}",
            *(f"NOT forgotten: {one}" for one in self.left),
        ]


async def forget_everything(settings: Settings, facts: Mem0Middleware, history: PromptHistory) -> Forgotten:
    """Forget the user of `facts` in every place of the data folder. Call it when no session of this program is open.

    Raises:
        MnemoscopeError: the facts themselves could not be deleted; nothing else was then.
    """
    purged = await facts.facts.forget()
    source, left = facts.scope.source, [purged.left] if purged.left else []
    # What it holds is noted before the files are read, so that nothing counts as unknown that is just being said.
    purge = await StorePurge.begun(settings.memory, {settings.user, facts.scope.user}, left)
    cuts: list[Cut] = []
    cut_paths: list[Path] = []
    sessions = SessionStore(settings.sessions_dir)
    for path in sessions.paths():
        try:
            cut = cut_session(path, source)
        except MnemoscopeError as error:
            left.append(str(error))
            purge.leave(path.stem)
        else:
            if cut is not None:
                cuts.append(cut)
                cut_paths.append(path)
    return Forgotten(
        user=facts.scope.user,
        facts=purged,
        sessions=tuple(cuts),
        replies=sum(cut.replies for cut in cuts),
        messages=sum(len(cut.msg_ids) for cut in cuts),
        stored=await purge.carry_out({path.stem: path for path in sessions.paths()}, cuts),
        prompts=history.forget(frozenset().union(*(cut.said for cut in cuts))) + _delete_unsent(cut_paths, left),
        copies=_delete_copies(_copies(settings, sessions), source, left),
        is_log_emptied=_empty_log(log_path(settings), left),
        left=tuple(left),
    )


def _copies(settings: Settings, sessions: SessionStore) -> list[Path]:
    """The damaged files that were put aside."""
    stores = settings.data_dir.glob("mem0/*.bad-*") if settings.data_dir else ()
    return [*stores, *sessions.paths_set_aside()]


def _delete_copies(copies: Iterable[Path], source: str, left: list[str]) -> int:
    """Delete those that hold the user's name; how many that were."""
    user = source.partition(":")[2].encode()
    count = 0
    for path in copies:
        try:
            if user in read_file(str(path), None, True):
                path.unlink()
                count += 1
        except OSError as error:
            left.append(f"{path}: {error.strerror or error}")
    return count


def _delete_unsent(cut: Iterable[Path], left: list[str]) -> int:
    """Delete what was typed and not sent in sessions that were cut; in how many of them there was some."""
    count = 0
    for path in map(unsent_path, cut):
        try:
            path.unlink()
            count += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            left.append(f"{path}: {error.strerror or error}")
    return count


def _empty_log(path: Path, left: list[str]) -> bool:
    try:
        if path.exists() and path.stat().st_size:
            path.write_bytes(b"")
            return True
    except OSError as error:
        left.append(f"{path}: {error.strerror or error}")
    return False


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
