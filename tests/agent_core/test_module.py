from __future__ import annotations

import json
from typing import Any

import pytest

from agent_core.module import StateModule


class Inner(StateModule):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.register_state("count")


class Outer(StateModule):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.items: list[Any] = []
        self.tags = {"a"}
        self.register_state("items")
        self.register_state("tags", sorted, set)


def test_state_goes_out_and_comes_back_nested() -> None:
    outer = Outer()
    outer.inner.count, outer.items, outer.tags = 3, [1], {"b", "a"}
    state = json.loads(json.dumps(outer.state_dict()))
    assert state == {"inner": {"count": 3}, "items": [1], "tags": ["a", "b"]}
    again = Outer()
    again.load_state_dict(state)
    assert (again.inner.count, again.items, again.tags) == (3, [1], {"a", "b"})


def test_the_dictionary_shares_nothing_with_the_object() -> None:
    outer = Outer()
    state = outer.state_dict()
    state["items"].append("x")
    assert outer.items == []
    outer.load_state_dict({**state, "inner": {"count": 1}})
    state["items"].append("y")
    assert outer.items == ["x"]


def test_strict_reaches_nested_modules() -> None:
    with pytest.raises(KeyError, match="tags"):
        Outer().load_state_dict({"inner": {"count": 1}, "items": []})
    with pytest.raises(KeyError, match="count"):
        Outer().load_state_dict({"inner": {}, "items": [], "tags": []})
    outer = Outer()
    outer.load_state_dict({"inner": {}, "tags": ["z"], "unknown": 1}, strict=False)
    assert outer.tags == {"z"}


def test_a_value_that_cannot_be_converted_changes_nothing() -> None:
    outer = Outer()
    with pytest.raises(TypeError):
        outer.load_state_dict({"inner": {"count": 9}, "items": [5], "tags": 7})
    assert outer.items == []
    assert outer.inner.count == 0


def test_misuse_is_named() -> None:
    class Early(StateModule):
        def __init__(self) -> None:
            self.inner = Inner()

    with pytest.raises(AttributeError, match="inner"):
        Early()
    outer = Outer()
    with pytest.raises(ValueError, match="inner"):
        outer.register_state("inner")
    outer.odd = object()
    with pytest.raises(TypeError, match="odd"):
        outer.register_state("odd")


def test_what_is_deleted_or_replaced_is_no_longer_state() -> None:
    outer = Outer()
    del outer.items
    outer.inner = 5  # type: ignore[assignment]
    assert outer.state_dict() == {"tags": ["a"]}


def test_a_forgotten_call_of_the_bases_init_is_named() -> None:
    class Forgetful(StateModule):
        def __init__(self) -> None:
            self.count = 0

    for use in (Forgetful().state_dict, lambda: Forgetful().register_state("count")):
        with pytest.raises(AttributeError, match=r"Forgetful.__init__ must call super\(\).__init__\(\) first"):
            use()


def test_what_is_missing_in_a_module_is_named_as_in_any_object() -> None:
    class Broken(Inner):
        @property
        def total(self) -> int:
            return len(self.absent)  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'Broken' object has no attribute 'absent'"):
        Broken().total  # noqa: B018
    assert not hasattr(Broken(), "else")
