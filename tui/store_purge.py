"""Taking out of the store that keeps the messages (`--memory`) what a long-term memory of facts has left in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.errors import MnemoscopeError
from tui.opened_store import all_names, opened_store
from tui.session_purge import Cut, messages_of

if TYPE_CHECKING:
    from memory.working.store import Names


class StorePurge:
    """Leaves of a user's sessions the messages that a session file here shows to be free of facts, and no others.

    A session that was begun elsewhere, of which no file here tells when facts came in, is emptied.

    Args:
        url: where the store is; empty when there is none.
        found: the user's sessions in it, with the ids of their messages.
        left: takes a line for each thing that could not be reached.
    """

    def __init__(self, url: str, found: Mapping[Names, Collection[str]], left: list[str]) -> None:
        self._url = url
        self._found = dict(found)
        self._left = left
        self._passed_over: set[str] = set()

    @classmethod
    async def begun(cls, url: str | None, users: Collection[str], left: list[str]) -> StorePurge:
        """Look what the store holds of somebody, whose sessions may be under several names."""
        found: dict[Names, Collection[str]] = {}
        if url:
            try:
                for names in await all_names(url):
                    if names.user_id in users:
                        async with opened_store(url, names.session_id, names.user_id) as memory:
                            found[names] = [entry.msg.id for entry in await memory.entries()]
            except MnemoscopeError as error:
                left.append(f"messages in the memory store: {error}")
                url = None
        return cls(url or "", found, left)

    def leave(self, session_id: str) -> None:
        """Do not touch a session, whose file could not be cut either."""
        self._passed_over.add(session_id)

    async def carry_out(self, files: Mapping[str, Path], cuts: Iterable[Cut]) -> int:
        """Delete, also what the sessions that were cut have stored under another user; how many messages that were.

        Args:
            files: those of the sessions here, by id, as they are now.
            cuts: the sessions that were cut.
        """
        if not self._url:
            return 0
        count = 0
        try:
            cut_ids = {cut.session_id for cut in cuts}
            others = [one for one in await all_names(self._url) if one.session_id in cut_ids]
            wanted = dict.fromkeys([*self._found, *others])
            for names in wanted:
                if names.session_id not in self._passed_over:
                    count += await self._shorten(names, files.get(names.session_id), is_cut=names.session_id in cut_ids)
            # Also when there was nothing to delete: it may have been read by somebody the last time.
            if wanted:
                async with opened_store(self._url) as memory:
                    await memory.leave_nothing_deleted()
        except MnemoscopeError as error:
            self._left.append(f"messages in the memory store: {error}")
        return count

    async def _shorten(self, names: Names, file: Path | None, *, is_cut: bool) -> int:
        """Delete what the file does not know of, and the summary, which may tell of it."""
        kept = messages_of(file) if file else frozenset()
        async with opened_store(self._url, names.session_id, names.user_id) as memory:
            ids = [entry.msg.id for entry in await memory.entries()] if is_cut else self._found[names]
            gone = [msg_id for msg_id in ids if msg_id not in kept]
            count = await memory.delete(gone)
            if is_cut or gone or not kept:
                await memory.update_compressed_summary("")
        return count
