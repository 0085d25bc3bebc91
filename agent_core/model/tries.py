"""The tries of one call: in which form the request is made, how often it has been, and until when it may be."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agent_core.model.base import Retrying
from agent_core.model.failure import Failure
from agent_core.model.limits import RetryPolicy, TimeLimits
from agent_core.model.profile import EndpointProfile, learn


class Tries:
    """Decides what follows a failure that came before the first token.

    Args:
        profile: the form of the first try.
        limits: `first_token` bounds all tries together.
        retry: how often the same form is tried again.

    Attributes:
        profile: the form of the next try.
        deadline: on the clock of the event loop; None when there is none.
    """

    def __init__(self, profile: EndpointProfile, limits: TimeLimits, retry: RetryPolicy) -> None:
        self.profile = profile
        self.deadline = None if limits.first_token is None else _now() + limits.first_token
        self._retry = retry
        self._retried = 0
        self._tried = {profile}

    def remaining(self) -> float | None:
        """Seconds left until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - _now())

    def after(self, failure: Failure, request: Mapping[str, Any]) -> Retrying | None:
        """What goes before the next try: a wait to be told of, or nothing when the refusal taught another form.

        Raises:
            ModelError: there is to be no next try.
        """
        learnt = learn(self.profile, failure.status, failure.said, request)
        if learnt is not None and learnt not in self._tried:
            self.profile = learnt
            self._tried.add(learnt)
            return None
        delay = self._retry.delay(self._retried + 1, failure)
        if delay is None or (self.deadline is not None and _now() + delay >= self.deadline):
            raise failure.error from failure.__cause__
        self._retried += 1
        return Retrying(self._retried, delay, str(failure.error))


def _now() -> float:
    return asyncio.get_running_loop().time()
