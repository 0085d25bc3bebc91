"""`mnemoscope sessions`: the list of sessions, and deleting one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tui.cli import Options
from tui.config import Settings
from tui.literal_text import harmless_json, visible_line
from tui.session_store import SessionInfo, SessionStore
from tui.views.moments import minute


def list_sessions(options: Options, settings: Settings) -> int:
    """Print the sessions, newest first, or delete the one that is named. Returns the exit code.

    Raises:
        StorageError: the sessions cannot be listed, or that one cannot be deleted.
    """
    store = SessionStore(settings.sessions_dir)
    if options.delete is not None:
        deleted = store.delete(options.delete)
        print(msgspec.json.encode({"deleted": deleted}).decode() if options.json else f"Deleted session {deleted}.")
        return 0
    sessions = store.list()
    if options.json:
        for info in sessions:
            print(harmless_json(msgspec.json.encode(info).decode()))
        return 0
    for line in _lines(sessions) or ["There are no sessions yet."]:
        print(line)
    return 0


def _lines(sessions: Sequence[SessionInfo]) -> list[str]:
    """One line a session; the workdir only where they have several."""
    tells_workdir = len({info.workdir for info in sessions}) > 1
    lines = []
    for info in sessions:
        when = minute(info.modified)
        where = f"  ({visible_line(info.workdir)})" if tells_workdir and info.workdir else ""
        count = f"{info.messages} message{'' if info.messages == 1 else 's'}"
        lines.append(f"{info.id}  {when}  {count:>13}  {visible_line(info.title) or '(nothing said)'}{where}")
    return lines
