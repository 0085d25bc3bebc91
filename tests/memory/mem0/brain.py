"""A brain for the scripted server that tells chats from requests for memories."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.fake_server import Answer, Request, reply, text

Said = str | Answer | Callable[[Request], "str | Answer"]


class Brain:
    """Answers chats with `answer`, and requests for memories with what `extracts` holds, then with none.

    Attributes:
        answer: to people.
        extracts: to mem0, in order.
        asked: the requests for memories so far.
    """

    def __init__(self) -> None:
        self.answer: Said = "Fine."
        self.extracts: list[Said] = []
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Answer:
        if "## New Messages" not in str(request.messages):
            return _answer(self.answer, request)
        self.asked.append(request)
        return _answer(self.extracts.pop(0) if self.extracts else memories(), request)

    def will_extract(self, *said: Said) -> None:
        self.extracts += said


def memories(*texts: str | dict[str, Any]) -> str:
    """The answer of a model that does what it is told."""
    return json.dumps({"memory": [{"text": one} if isinstance(one, str) else one for one in texts]})


def _answer(said: Said, request: Request) -> Answer:
    if callable(said):
        said = said(request)
    return said if isinstance(said, Answer) else reply(text(said))
