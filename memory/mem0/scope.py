"""Whose memories are meant."""

from __future__ import annotations

from typing import Any, NamedTuple


class Scope(NamedTuple):
    """A user, and perhaps one of the agents that the user talks to.

    Args:
        user: the user's id.
        agent: the agent's id, or empty.
        searches_agent: whether a search finds what was stored for this agent alone, or everything of the user.
    """

    user: str
    agent: str = ""
    searches_agent: bool = True

    @property
    def source(self) -> str:
        """The name of this memory in events and hints."""
        return f"mem0:{self.user}"

    @property
    def ids(self) -> dict[str, str]:
        """What a write is stored under."""
        return {"user_id": self.user} | ({"agent_id": self.agent} if self.agent else {})

    @property
    def filters(self) -> dict[str, Any]:
        """What a search is limited to."""
        return self.ids if self.searches_agent else {"user_id": self.user}

    def checked(self) -> Scope:
        """Itself, blanks around the ids taken off.

        Raises:
            ValueError: an id is blank, or holds blanks, which mem0 refuses.
        """
        user, agent = (str(value).strip() if value is not None else "" for value in (self.user, self.agent))
        if not user:
            raise ValueError("user_id must not be blank: it names whose memories these are")
        for name, value in (("user_id", user), ("agent_id", agent)):
            if len(value.split()) > 1:
                raise ValueError(f"{name} must not hold blanks: {value!r}")
        return Scope(user, agent, self.searches_agent)
