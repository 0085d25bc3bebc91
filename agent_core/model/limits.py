"""How long an endpoint may take, and how often a failed call is made again."""

from __future__ import annotations

from msgspec import Struct

from agent_core.model.failure import Failure


class TimeLimits(Struct, frozen=True):
    """Seconds that an endpoint may take; None means no limit.

    Args:
        connect: to open a connection.
        first_token: until the answer begins, tries and waits between them all together. Large models on small machines
            read a long prompt for minutes.
        idle: between two pieces of an answer that has begun. Where the endpoint sends signs of life that say nothing,
            `first_token` if that is longer.
    """

    connect: float | None = 10.0
    first_token: float | None = 300.0
    idle: float | None = 120.0


class RetryPolicy(Struct, frozen=True):
    """How often, and after how long, a call is made again that failed before its first token.

    Args:
        retries: how many times at most.
        backoff: seconds before the first; doubled each time.
        longest: no wait is longer; an endpoint that asks for more is not waited for.
    """

    retries: int = 2
    backoff: float = 0.5
    longest: float = 30.0

    def delay(self, attempt: int, failure: Failure) -> float | None:
        """Seconds to wait before the retry number `attempt` (from 1); None when there should be none."""
        if attempt > self.retries or not failure.transient:
            return None
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= self.longest else None
        return float(min(self.backoff * 2 ** (attempt - 1), self.longest))
