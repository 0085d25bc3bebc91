"""`StoreErasure`: takes what the store of `--memory` tells of a memory that is deleted for good out of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from agent_core.change import Snapshot, stored
from agent_core.errors import StorageError
from agent_core.marks import Entry
from tui.opened_store import all_names, opened_store
from tui.session_erasure import SessionErasure
from tui.views.figures import plural

if TYPE_CHECKING:
    from memory.working.store import Names, Rewriting
    from tui.redaction import Redaction


class StoreErased(NamedTuple):
    """What was taken out of the store: of how many sessions, and how many messages and summaries."""

    sessions: int
    passages: int

    def __str__(self) -> str:
        told = f"{plural(self.passages, 'message')} of {plural(self.sessions, 'session')} in it"
        return told if self.sessions else "nothing in it tells of it"


class StoreErasure:
    """Changes the messages of one user's sessions, and of the sessions that have a file here. All others stay.

    Args:
        url: where the store is.
        user: whose sessions are searched.
        files: knows the sessions that have a file here.

    Attributes:
        sessions: how many of them tell of the memory, after `prepare`.
    """

    def __init__(self, url: str, user: str, files: SessionErasure) -> None:
        self.sessions = 0
        self._url = url
        self._user = user
        self._files = files

    async def prepare(self) -> None:
        """Find the sessions that tell of it.

        Raises:
            StorageError: the store cannot be reached or read.
        """
        try:
            for names in await self._searched():
                async with opened_store(self._url, names.session_id, names.user_id) as memory:
                    entries, state = await memory.entries(), memory.state_dict()
                redacted = _Rewrite(self._files.redaction(names.session_id))
                self.sessions += redacted(entries, state["_compressed_summary"]) is not None
        except StorageError as error:
            raise StorageError(
                f"The memory store (--memory) may tell of it and cannot be searched: {error} Nothing was deleted."
            ) from error

    async def carry_out(self) -> StoreErased:
        """Change each session as a whole, and leave nothing of it on the store's disk. May be done again.

        Raises:
            StorageError: a session cannot be changed, which is then as it was; those before it are done.
        """
        sessions = passages = 0
        searched = await self._searched()
        for names in searched:
            rewrite = _Rewrite(self._files.redaction(names.session_id))
            async with opened_store(self._url, names.session_id, names.user_id) as memory:
                await memory.rewrite(rewrite)
            sessions += rewrite.passages > 0
            passages += rewrite.passages
        # Also when there was nothing to change: it may have been read by somebody the last time.
        if searched:
            async with opened_store(self._url) as memory:
                await memory.leave_nothing_deleted()
        return StoreErased(sessions, passages)

    async def _searched(self) -> list[Names]:
        found = await all_names(self._url)
        return [one for one in found if one.user_id == self._user or self._files.has(one.session_id)]


class _Rewrite:
    """Gives the content of a session without what it tells; None where it tells nothing.

    Attributes:
        passages: how many messages and summaries the last call has changed.
    """

    def __init__(self, redaction: Redaction) -> None:
        self.passages = 0
        self._redaction = redaction

    def __call__(self, entries: list[Entry], summary: str) -> Rewriting | None:
        from memory.working.body import decode_body, encode_body
        from memory.working.store import Rewriting

        before = [json.loads(encode_body(entry.msg)) for entry in entries]
        self._redaction.learn_messages(before)
        after = [self._redaction.message(fields) for fields in before]
        without = self._redaction.text(summary)
        self.passages = sum(old != new for old, new in zip(before, after, strict=True)) + (without != summary)
        if not self.passages:
            return None
        content = [
            entry if old == new else Entry(decode_body(json.dumps(new)), entry.marks)
            for entry, old, new in zip(entries, before, after, strict=True)
        ]
        return Rewriting(content, without, Snapshot(stored(content), without))
