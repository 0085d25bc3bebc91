"""`UnsentKeeper`: follows what is typed into a chat, and keeps what has not been sent."""

from __future__ import annotations

from textual.timer import Timer

from tui.panes.chat import ChatPane
from tui.unsent import NOTHING, Unsent, UnsentFile

KEEP_SECONDS = 1.0
"""So long after a key at the latest the text is in its file."""


class UnsentKeeper:
    """Puts back what was kept, and keeps what is typed from then on.

    Args:
        chat: where it is typed.
        file: keeps it.
        carried: what was typed in another session that this one follows; None for what the file holds.
    """

    def __init__(self, chat: ChatPane, file: UnsentFile, carried: Unsent | None = None) -> None:
        self._chat = chat
        self._file = file
        self._timer: Timer | None = None
        self._is_over = False
        unsent = file.kept if carried is None else carried
        chat.prompt.start_over(unsent.text)
        if unsent.text:
            chat.marks = unsent.marks

    def keep_soon(self) -> None:
        """Keep what is typed, not at each key."""
        if self._timer is None:
            self._timer = self._chat.set_timer(KEEP_SECONDS, self.keep)

    def keep(self) -> None:
        """Keep what is typed and what waits to be sent."""
        self._timer = None
        if not self._is_over:
            self._file.keep(self._unsent)

    def hand_over(self) -> Unsent:
        """Keep nothing any more: what there is, for another session."""
        self._is_over = True
        self._file.keep(NOTHING)
        return self._unsent

    @property
    def _unsent(self) -> Unsent:
        chat = self._chat
        texts = [*(draft.text for draft in chat.conversation.unsent), chat.prompt.unsent]
        return Unsent("\n".join(filter(None, texts)), chat.marks)
