"""Long-term memory of facts about a user, kept by mem0. See `Mem0Middleware`."""

from memory.mem0.answers import Fact
from memory.mem0.errors import ExtractionError
from memory.mem0.facts import Change, Facts
from memory.mem0.forget import Purged
from memory.mem0.middleware import Mem0Middleware, Mode
from memory.mem0.scope import Scope

__all__ = ["Change", "ExtractionError", "Fact", "Facts", "Mem0Middleware", "Mode", "Purged", "Scope"]
