"""The settings of agentic memory. Names and defaults follow AgentScope 2.x."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from agent_core.model.base import ChatModelBase
from memory.agentic.manifest import SELECTION_INSTRUCTIONS

if TYPE_CHECKING:
    from memory.search import Embedder
else:
    # The import would cost the start; whoever looks at types while the program runs, as help() does, finds this.
    Embedder = object

Selector = Literal["model", "local"]
Bundled = Literal["bundled"]
BUNDLED: Bundled = "bundled"


class Parameters(Struct, frozen=True, kw_only=True):
    """What agentic memory may cost, and how it asks. A limit of None is none, one of 0 lets nothing through.

    Args:
        memory_max_tokens: of MEMORY.md in the system prompt.
        memory_instructions: told to the model instead of our own; the two paths are added to it.
        retrieval_async: search while the model works; otherwise before the first model call, however long it takes.
        retrieval_selector: who chooses the files: `model`, or `local` search, which asks no model.
        retrieval_model: the model that chooses; the agent's own when None.
        retrieval_max_tokens_per_md: of one recalled file in the prompt.
        retrieval_max_files: files that the model chooses from; with more, local search chooses those first.
        retrieval_max_tokens_per_frontmatter: of one file's description in that list.
        retrieval_embedder: lets local search find by meaning too: `bundled`, the one of the extra `embed` where that is
            installed; another one; or None for words alone. Looked at once, when local search is first needed.
        retrieval_vectors: the file that keeps the vectors of local search between runs, one for each memory folder;
            they are not kept when None.
        retrieval_instructions: told to the model that chooses.
        retrieval_grace: seconds that the first model call of a reply waits for the retrieval, at most.
        retrieval_carry_over: hand what comes too late for its reply on to the agent's next one; otherwise it is late.

    Raises:
        ValueError: a number is negative, or nobody knows that selector or embedder.
    """

    memory_max_tokens: int | None = 4000
    memory_instructions: str | None = None
    retrieval_async: bool = True
    retrieval_selector: Selector = "model"
    retrieval_model: ChatModelBase | None = None
    retrieval_max_tokens_per_md: int | None = 2000
    retrieval_max_files: int | None = 200
    retrieval_max_tokens_per_frontmatter: int | None = 256
    retrieval_embedder: Embedder | Bundled | None = BUNDLED
    retrieval_vectors: str | None = None
    retrieval_instructions: str = SELECTION_INSTRUCTIONS
    retrieval_grace: float = 0.0
    retrieval_carry_over: bool = True

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, int | float) and value < 0:
                raise ValueError(f"{name} must not be negative: {value!r}")
        if self.retrieval_selector not in get_args(Selector):
            raise ValueError(f"retrieval_selector must be one of {get_args(Selector)}: {self.retrieval_selector!r}")
        if isinstance(self.retrieval_embedder, str) and self.retrieval_embedder != BUNDLED:
            raise ValueError(
                f"retrieval_embedder must be an embedder, {BUNDLED!r} or None: {self.retrieval_embedder!r}"
            )
