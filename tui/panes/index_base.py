"""What the parts of the index pane share: the memory, the file under the cursor, the question at the foot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.notifications import SeverityLevel

from memory.agentic.journal_entry import Author
from tui.panes.pane import Pane
from tui.widgets.ask_line import AskLine
from tui.widgets.asking import Asking

if TYPE_CHECKING:
    from agent_core.agent import Agent
    from memory.agentic.book import MemoryBook
    from memory.agentic.memory_file import MemoryFile
    from memory.agentic.middleware import AgenticMemoryMiddleware


class IndexBase(Asking, Pane):
    """A pane over a memory folder.

    Args:
        agent: in whose trace changes are told.
        memory: the long-term memory; None where there is none.
    """

    def __init__(self, agent: Agent, memory: AgenticMemoryMiddleware | None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.agent = agent
        self.memory = memory
        self.ask = AskLine()

    def book(self) -> MemoryBook | None:
        """What changes are made with; they are told in the trace of the agent, as a person's and of this session."""
        if self.memory is None:
            return None
        self.memory.recording.know(self.agent)
        book = self.memory.book
        book.author = Author(origin="user", session_id=self.memory.recording.session_id)
        return book

    def file(self) -> MemoryFile | None:
        """The file under the cursor."""
        raise NotImplementedError

    def look_soon(self) -> None:
        """Look at the folder at once."""
        raise NotImplementedError

    def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """Tell something in one line."""
        self.notify(text, severity=severity, markup=False)
