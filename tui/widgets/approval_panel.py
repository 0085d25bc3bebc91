"""The question whether a tool call may be made, above the prompt; everything else stays usable meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click, Key
from textual.message import Message
from textual.reactive import var

from agent_core.event import Answer, PermissionAsked
from tui.commands import APPROVAL, bindings
from tui.diff_content import diff_content
from tui.views.tool_text import pretty_arguments
from tui.widgets.literal import Literal, literal
from tui.widgets.scroll_chat import ScrollChat

ARMING_SECONDS = 0.4
"""For so long after taking the focus keys are taken for text that a person was just about to type."""
_CHANGE_LINES = 7
"""Lines of the change that are shown on the smallest screen."""
_CHANGE_PERCENT = 30
"""Share of the screen's height that they may take on a larger one."""
_CHOICES: tuple[tuple[str, Answer, str], ...] = (("y", "once", "once"), ("a", "always", "always"), ("n", "no", "no"))


class _Choice(Literal):
    """One answer that can be clicked."""

    def __init__(self, key: str, answer: Answer, word: str) -> None:
        super().__init__(Content.assemble((f" {key} ", "bold reverse"), f" {word}  "))
        self.answer = answer


class ApprovalPanel(Vertical, can_focus=True):
    """Asks one question at a time; its keys answer only while it has the focus, which its border shows."""

    BINDINGS = bindings(APPROVAL)
    DEFAULT_CSS = """
    ApprovalPanel {
        display: none;
        height: auto;
        border: round $warning 50%;
        padding: 0 1;
        &:focus { border: round $warning; }
        & > #question { max-height: 4; text-style: bold; color: $text-warning; }
        & > VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
        & > Horizontal { height: 1; }
        & _Choice { width: auto; }
        & #keys { width: 1fr; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    }
    """

    is_armed = var(False)
    """Whether a key is an answer."""

    @dataclass
    class Answered(Message):
        """A person has answered the question about this call."""

        call_id: str
        answer: Answer

    class Left(Message):
        """The person wants to go back to the prompt without answering."""

    @dataclass
    class Typed(Message):
        """A character that was meant for the prompt."""

        character: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._asked: PermissionAsked | None = None

    def compose(self) -> ComposeResult:
        """The question, what the call would change, and the answers."""
        yield Literal(id="question")
        with VerticalScroll(can_focus=False):
            yield Literal(id="change")
        with Horizontal():
            for choice in _CHOICES:
                yield _Choice(*choice)
            yield Literal(id="keys")

    def show(self, asked: Sequence[PermissionAsked]) -> bool:
        """Show the first of these questions; whether that is another one than before."""
        first = asked[0] if asked else None
        is_new = first is not None and (self._asked is None or self._asked.call_id != first.call_id)
        self._asked = first
        self.display = first is not None
        if first is not None:
            count = f"  (1 of {len(asked)})" if len(asked) > 1 else ""
            self.query_one("#question", Literal).show(f"{first.question}{count}")
            change = diff_content(first.diff) if first.diff else literal(pretty_arguments(first.arguments))
            self.query_one("#change", Literal).show(change)
            # In cells: the height of the panel does not follow a limit that is a share of the screen.
            share = self.screen.size.height * _CHANGE_PERCENT // 100
            self.query_one(VerticalScroll).styles.max_height = max(_CHANGE_LINES, share)
        if is_new:
            self.query_one(VerticalScroll).scroll_home(animate=False)
            self._disarm()
        return is_new

    def on_mount(self) -> None:
        """Say how to answer."""
        self._tell_keys()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Keys are answers only while the panel has the focus, and only after a moment."""
        super().watch_has_focus(has_focus)
        self._disarm()

    def on_key(self, event: Key) -> None:
        """Hand on what is no answer: a person may have been about to type."""
        is_answer = self.is_armed and any(event.key == key for key, _, _ in _CHOICES)
        if event.is_printable and event.character and not is_answer:
            event.stop()
            self.post_message(self.Typed(event.character))

    def on_click(self, event: Click) -> None:
        """A click on an answer."""
        if isinstance(event.widget, _Choice):
            self._answer(event.widget.answer)

    def action_once(self) -> None:
        """Allow this call."""
        self._answer("once")

    def action_always(self) -> None:
        """Allow this call and the like."""
        self._answer("always")

    def action_no(self) -> None:
        """Refuse."""
        self._answer("no")

    def action_leave(self) -> None:
        """Back to the prompt."""
        self.post_message(self.Left())

    def action_scroll_change(self, lines: int) -> None:
        """Scroll what the call would change."""
        # At once: what waits for the next drawing starts from where all of a burst of keys started.
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False, immediate=True)

    def action_scroll_chat(self, pages: int) -> None:
        """Scroll the chat."""
        self.post_message(ScrollChat(pages))

    def _answer(self, answer: Answer) -> None:
        if self._asked is not None:
            self.post_message(self.Answered(self._asked.call_id, answer))

    def _disarm(self) -> None:
        self.is_armed = False
        self._tell_keys()
        if self.has_focus:
            self.set_timer(ARMING_SECONDS, self._arm)

    def _arm(self) -> None:
        self.is_armed = self.has_focus
        self._tell_keys()

    def _tell_keys(self) -> None:
        words = "↑ ↓ scroll   tab: back to the prompt" if self.has_focus else "tab or click to answer"
        self.query_one("#keys", Literal).show(words)
