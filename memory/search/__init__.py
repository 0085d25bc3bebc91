"""Local search: passages by their words and by their meaning. See `HybridSearch`."""

from memory.search.bundled import Loaded, load_bundled_embedder
from memory.search.embedder import Embedder, embeddable
from memory.search.endpoint import EndpointEmbedder
from memory.search.hybrid import Hit, HybridSearch, Passage, Progress
from memory.search.vector_cache import VectorCache

__all__ = [
    "Embedder",
    "EndpointEmbedder",
    "Hit",
    "HybridSearch",
    "Loaded",
    "Passage",
    "Progress",
    "VectorCache",
    "embeddable",
    "load_bundled_embedder",
]
