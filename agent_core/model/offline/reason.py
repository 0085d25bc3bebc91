"""Why a call did not do what it was made for, in words for people."""

from __future__ import annotations

from agent_core.model.offline.conversation import Conversation, ToolRun
from agent_core.model.offline.phrases import say
from agent_core.text import first_line


def reason(conversation: Conversation, run: ToolRun) -> str:
    """Why `run` failed, in the language of the conversation where the words are ours."""
    text = first_line(run.result.text())
    if not run.refused:
        return text
    # What follows the first sentence is advice for a language model.
    return say("refused", conversation.language, tool=run.name, reason=text.split(". ")[0].rstrip("."))
