"""The questions about tool calls that wait for a person, as a fold over events."""

from __future__ import annotations

from agent_core.event import Event, PermissionAnswered, PermissionAsked, ReplyEnded


class ApprovalsView:
    """The open questions, oldest first."""

    def __init__(self) -> None:
        self.asked: list[PermissionAsked] = []

    def apply(self, event: Event) -> bool:
        """Take in one event; whether the open questions have changed."""
        before = len(self.asked)
        match event:
            case PermissionAsked():
                self.asked.append(event)
            case PermissionAnswered(call_id=call_id):
                self.asked = [asked for asked in self.asked if asked.call_id != call_id]
            case ReplyEnded(reply_id=reply_id):
                self.asked = [asked for asked in self.asked if asked.reply_id != reply_id]
        return len(self.asked) != before
