"""The chat: what was said, what is asked, what is typed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.worker import Worker, WorkerError

from agent_core.agent import Agent
from agent_core.event import Answer
from agent_core.message import ToolCallBlock
from tui.commands import Command
from tui.conversation import Conversation, Draft
from tui.markdown.parse import warm_up
from tui.prompt_history import PromptHistory
from tui.views.session_view import SessionView
from tui.widgets.approval_panel import ApprovalPanel
from tui.widgets.literal import Literal
from tui.widgets.prompt_area import PromptArea
from tui.widgets.scroll_chat import ScrollChat
from tui.widgets.transcript import Transcript
from tui.widgets.working_line import WorkingLine

QUIET_SECONDS = 1.0
"""A question takes the focus from an empty prompt only when no key was pressed for so long."""
_WELCOME = "Type a message and press Enter.  / lists the commands, F1 all keys."

Choices = Callable[[Command], Iterable[str]]
Work = Callable[[], Awaitable[bool]]
"""Something to be done; gives whether it went well."""


class ChatPane(Vertical):
    """One conversation with one agent.

    Args:
        agent: who is spoken to.
        views: what is shown.
        history: what was typed before.
        choices: gives what may be filled in behind a slash command.
    """

    DEFAULT_CSS = """
    ChatPane {
        & > #welcome { padding: 1; color: $text-muted; }
    }
    """

    class QueueChanged(Message):
        """Another text waits, or one less, or the marks for the next one are others."""

    def __init__(
        self, agent: Agent, views: SessionView, history: PromptHistory, choices: Choices, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._agent = agent
        self._views = views
        self.conversation = Conversation(agent, self._queue_changed)
        self._marks: tuple[str, ...] = ()
        self._worker: Worker[None] | None = None
        self._questions: dict[str, asyncio.Future[Answer]] = {}
        self._transcript = Transcript(views.chat, id="transcript")
        self._approvals = ApprovalPanel(id="approvals")
        self._working = WorkingLine(views.status, id="working")
        self.prompt = PromptArea(history, choices, id="prompt-area")

    def compose(self) -> ComposeResult:
        """The transcript above what belongs to the prompt."""
        yield Literal(_WELCOME, id="welcome")
        yield self._transcript
        yield self._approvals
        yield self._working
        yield self.prompt

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that are set on what is typed next."""
        return self._marks

    @marks.setter
    def marks(self, marks: tuple[str, ...]) -> None:
        self._marks = marks
        self._queue_changed()

    @property
    def is_working(self) -> bool:
        """Whether a reply runs, or something else that must not run beside one."""
        return self._worker is not None and not self._worker.is_finished

    def show(self, dirty: set[str]) -> None:
        """Draw the views of these names."""
        if "chat" in dirty:
            self.query_one("#welcome").display = not self._views.chat.items
            self._transcript.show()
        if "status" in dirty:
            self._working.show(self._agent.model.model)
        if "approvals" in dirty:
            self._show_approvals()

    def run(self, work: Work) -> None:
        """Let something run that takes turns with replies; when it has failed, what is queued comes back."""
        if self._worker is None:
            # While the model begins to think, so that the first code block finds everything there.
            self.run_worker(warm_up, thread=True)
        self._worker = self.run_worker(self._run(work), group="reply")

    def interrupt(self) -> bool:
        """Stop what runs, and take back what is queued; whether anything ran."""
        if not self.is_working or self._worker is None or self._worker.is_cancelled:
            return False
        self._worker.cancel()
        self._take_back_all()
        return True

    async def stop(self) -> None:
        """Stop what runs, and wait until it has put everything in order."""
        self.interrupt()
        if self._worker is not None:
            try:
                await self._worker.wait()
            except WorkerError:
                pass

    def toggle_details(self) -> None:
        """Open or fold everything in the transcript that can be folded."""
        self._transcript.toggle_details()

    async def approve(self, call: ToolCallBlock, diff: str) -> Answer:
        """Ask a person about a call, for `Agent.approve`; the question itself is in the trace."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._questions[call.id] = answer
        try:
            return await answer
        finally:
            del self._questions[call.id]

    async def _run(self, work: Work) -> None:
        if not await work() or not await self.conversation.work():
            self._take_back_all()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Go on with what was typed while a reply that was stopped put everything in order."""
        if event.worker is self._worker and event.worker.is_finished and self.conversation.queued:
            self.run(self.conversation.work)

    def _take_back_all(self) -> None:
        if drafts := self.conversation.take_back_all():
            self.prompt.input.put_before("\n".join(draft.text for draft in drafts))

    def _queue_changed(self) -> None:
        self.prompt.show(self.conversation.queued, self._marks)
        self.post_message(self.QueueChanged())

    def _show_approvals(self) -> None:
        panel, prompt = self._approvals, self.prompt.input
        had_focus = panel.has_focus
        is_new = panel.show(self._views.approvals.asked)
        if is_new and prompt.has_focus and prompt.is_blank and prompt.quiet_for >= QUIET_SECONDS:
            panel.focus()
        elif had_focus and not panel.display:
            prompt.focus()

    @on(PromptArea.Said)
    def _say(self, event: PromptArea.Said) -> None:
        event.stop()
        self.conversation.add(Draft(event.text, self._marks))
        self._transcript.anchor()
        if not self.is_working:
            self.run(self.conversation.work)

    @on(PromptArea.TakeBackWanted)
    def _take_back(self, event: PromptArea.TakeBackWanted) -> None:
        event.stop()
        if (draft := self.conversation.take_back_last()) is not None:
            self.prompt.input.set_text(draft.text)

    @on(PromptArea.Left)
    def _leave_prompt(self, event: PromptArea.Left) -> None:
        event.stop()
        if self._approvals.display:
            self._approvals.focus()
        else:
            self.screen.focus_next()

    @on(ApprovalPanel.Answered)
    def _answer(self, event: ApprovalPanel.Answered) -> None:
        event.stop()
        question = self._questions.get(event.call_id)
        if question is not None and not question.done():
            question.set_result(event.answer)

    @on(ApprovalPanel.Left)
    def _leave_question(self, event: ApprovalPanel.Left) -> None:
        event.stop()
        self.prompt.input.focus()

    @on(ApprovalPanel.Typed)
    def _type(self, event: ApprovalPanel.Typed) -> None:
        event.stop()
        self.prompt.input.focus()
        self.prompt.input.insert(event.character)

    @on(ScrollChat)
    def _scroll(self, event: ScrollChat) -> None:
        event.stop()
        self._transcript.scroll_pages(event.pages)
