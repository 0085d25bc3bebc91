"""From what a person wants to the next step."""

from __future__ import annotations

from agent_core.model.offline.answering import answer
from agent_core.model.offline.conversation import Conversation
from agent_core.model.offline.intent import Ask, KeepOut, Remember, intent_of, tells_of_self
from agent_core.model.offline.phrases import CONNECT, say
from agent_core.model.offline.saving import save
from agent_core.model.offline.steps import Step


def next_step(conversation: Conversation) -> Step:
    """What to do now: calls to make, or the answer."""
    match intent_of(conversation.text):
        case Remember(fact):
            return save(conversation, fact)
        case Ask():
            return answer(conversation)
        case KeepOut():
            folder = f"`{conversation.folder}`" if conversation.folder else say("the_folder", conversation.language)
            return Step(say("keep_out", conversation.language, folder=folder))
        case _:
            return Step(_introduction(conversation))


def _introduction(conversation: Conversation) -> str:
    """What can be done here; short when it was said before."""
    language = conversation.language
    is_known = any(CONNECT in text for text in conversation.answers)
    if tells_of_self(conversation.text):
        offer = say("offer", language)
        return offer if is_known else f"{offer}\n\n{say('rules_only', language)}"
    return say("introduction_again" if is_known else "introduction", language)
