"""Embedding models."""

from agent_core.embedding.base import EmbeddingModelBase
from agent_core.embedding.openai_embedding import OpenAIEmbeddingModel

__all__ = ["EmbeddingModelBase", "OpenAIEmbeddingModel"]
