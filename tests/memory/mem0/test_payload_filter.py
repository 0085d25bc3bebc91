from __future__ import annotations

from typing import Any

import pytest

from memory.mem0.payload_filter import matches

PAYLOAD = {"user_id": "alice", "n": 3, "tags": "Green tea", "when": "2026-11-30"}


@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        {"user_id": "alice"},
        {"user_id": ["bob", "alice"]},
        {"n": {"gt": 2, "lte": 3}},
        {"n": {"eq": 3}},
        {"n": {"ne": 4}},
        {"n": {"in": [1, 3]}},
        {"n": {"nin": [1]}},
        {"when": {"gte": "2026-11-01", "lt": "2026-12-01"}},
        {"tags": {"contains": "tea"}},
        {"tags": {"icontains": "GREEN"}},
        {"n": "*"},
        {"absent": {"ne": 1}},
        {"absent": {"nin": [1]}},
        {"$or": [{"n": 4}, {"user_id": "alice"}]},
        {"$not": [{"n": 4}]},
        {"user_id": "alice", "$or": [{"n": 3}]},
    ],
)
def test_what_fits_passes(filters: dict[str, Any] | None) -> None:
    assert matches(PAYLOAD, filters)


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": "bob"},
        {"user_id": ["bob"]},
        {"n": {"gt": 3}},
        {"n": {"lt": "text"}},
        {"tags": {"contains": "TEA"}},
        {"absent": "*"},
        {"absent": 1},
        {"absent": {"eq": 1}},
        {"absent": {"gt": 1}},
        {"$or": [{"n": 4}, {"user_id": "bob"}]},
        {"$not": [{"n": 4}, {"n": 3}]},
        {"user_id": "alice", "n": 4},
    ],
)
def test_what_does_not_fit_is_kept_out(filters: dict[str, Any]) -> None:
    assert not matches(PAYLOAD, filters)


def test_an_unknown_comparison_is_an_error() -> None:
    with pytest.raises(ValueError, match="like"):
        matches(PAYLOAD, {"n": {"like": 3}})
