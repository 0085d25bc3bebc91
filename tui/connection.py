"""`Connection`: which model answers, at which endpoint, with which key."""

from __future__ import annotations

import asyncio
from importlib import import_module

from agent_core.model.base import ChatModelBase
from agent_core.model.offline_model import OfflineChatModel
from tui.config import Settings
from tui.config_file import DEFAULT_MODEL, ConfigError

_UNNAMED_MODEL = "default"
"""Sent where nobody has named a model; servers with only one take any name."""


class Connection:
    """The model in use, first the configured one; without one the offline model.

    Making one reaches nothing. A key is sent only to the endpoint that it was set for.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base_url = settings.base_url
        self._is_unnamed = bool(settings.base_url) and not settings.model
        # A model that was replaced may be answering still; all are closed at the end.
        self._models: list[ChatModelBase] = [self._configured()]

    @property
    def model(self) -> ChatModelBase:
        """The model in use."""
        return self._models[-1]

    def change(self, name: str, base_url: str | None = None) -> ChatModelBase:
        """Use another model.

        Args:
            name: its name; `offline` for the model that needs no endpoint.
            base_url: its endpoint; None keeps the one in use.

        Raises:
            ConfigError: there is no endpoint to keep.
        """
        if name == OfflineChatModel.model and base_url is None:
            self._models.append(OfflineChatModel())
            return self.model
        if base_url is None and self._base_url is None and not self._settings.has_model:
            raise ConfigError("No endpoint is set; name one too: /model NAME BASE_URL.")
        self._base_url = base_url or self._base_url
        self._is_unnamed = False
        self._models.append(self._at_endpoint(name))
        return self.model

    async def name_model(self) -> str:
        """Where an endpoint was configured without a model, use its first one. Returns what to tell people, or ""."""
        if not self._is_unnamed or self._base_url is None:
            return ""
        from tui.discovery import list_models

        names = await list_models(self._base_url, self._settings.api_key)
        if not names:
            return f"No model is named, and {self.model.endpoint} lists none; name one with --model or /model."
        self.change(names[0])
        return ""

    async def warm_up(self) -> None:
        """Load the SDK, so that the first question need not wait for it, and learn the size of the model's window."""
        from agent_core.model.openai_model import OpenAIChatModel

        model = self.model
        if isinstance(model, OpenAIChatModel):
            await asyncio.to_thread(import_module, "openai")
            if model.context_size is None:
                await model.discover_context_size()

    async def aclose(self) -> None:
        """Let go of connections."""
        for model in self._models:
            await model.aclose()

    def _configured(self) -> ChatModelBase:
        if not self._settings.has_model:
            return OfflineChatModel()
        return self._at_endpoint(self._settings.model or (_UNNAMED_MODEL if self._base_url else DEFAULT_MODEL))

    def _at_endpoint(self, name: str) -> ChatModelBase:
        # Imported here, since without an endpoint it is never needed, and the first paint waits for every import.
        from agent_core.model.openai_model import OpenAIChatModel

        settings = self._settings
        is_configured = self._base_url == settings.base_url
        key = settings.api_key.reveal() if is_configured else ""
        size = settings.context_size if is_configured and settings.model in (None, name) else None
        return OpenAIChatModel(name, key, self._base_url, size)
