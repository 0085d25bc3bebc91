from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from tests.contract.backends import STORES, store_url


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of each kind of store."""
    return store_url(request.param, tmp_path)


@pytest.fixture
def user() -> str:
    """A user whom the store does not know yet."""
    return uuid4().hex
