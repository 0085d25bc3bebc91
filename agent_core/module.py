"""`StateModule`: objects whose state can be taken out as a dictionary and put back.

The contract is AgentScope 1.x's `module/_state_module.py`, with two differences: `strict` reaches nested modules, and
the dictionary shares no object with the live state.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

JsonConverter = Callable[[Any], Any]


class _Attribute(NamedTuple):
    to_json: JsonConverter | None
    from_json: JsonConverter | None


class StateModule:
    """Collects the state of registered attributes and of attributes that are themselves a `StateModule`."""

    def __init__(self) -> None:
        self._modules: dict[str, StateModule] = {}
        self._attributes: dict[str, _Attribute] = {}

    if not TYPE_CHECKING:  # To a type checker this would mean that every attribute is there.

        def __getattr__(self, name: str) -> Any:
            if "_modules" in self.__dict__:
                # Missing, or a property that failed: say it as it was said the first time.
                return object.__getattribute__(self, name)
            kind = type(self).__name__
            raise AttributeError(f"{kind} has no {name}: {kind}.__init__ must call super().__init__() first")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, StateModule):
            if "_modules" not in self.__dict__:
                raise AttributeError(f"call super().__init__() before setting the nested module {name!r}")
            self._modules[name] = value
        elif "_modules" in self.__dict__:
            self._modules.pop(name, None)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._modules.pop(name, None)
        self._attributes.pop(name, None)
        super().__delattr__(name)

    def register_state(
        self,
        name: str,
        custom_to_json: JsonConverter | None = None,
        custom_from_json: JsonConverter | None = None,
    ) -> None:
        """Make the attribute `name` part of the state.

        Args:
            name: an attribute that exists already.
            custom_to_json: turns its value into what JSON can hold; without it the value must be JSON-safe as it is.
            custom_from_json: the way back.

        Raises:
            ValueError: the attribute is a nested module, whose state is collected anyway.
            TypeError: the value is not JSON-safe and no converter was given.
        """
        if name in self._modules:
            raise ValueError(f"{name!r} is a nested module; its state is already part of this one's")
        if custom_to_json is None:
            try:
                json.dumps(getattr(self, name))
            except TypeError as error:
                raise TypeError(f"{name!r} is not JSON-safe ({error}); give custom_to_json") from error
        self._attributes[name] = _Attribute(custom_to_json, custom_from_json)

    def state_dict(self) -> dict[str, Any]:
        """The whole state as a JSON-safe dictionary that shares nothing with the object."""
        state: dict[str, Any] = {name: module.state_dict() for name, module in self._modules.items()}
        for name, attribute in self._attributes.items():
            value = getattr(self, name)
            state[name] = attribute.to_json(value) if attribute.to_json else deepcopy(value)
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> None:
        """Put a state back. Unknown keys are ignored.

        Args:
            state_dict: what `state_dict` gave.
            strict: whether a missing key is an error, here and in nested modules.

        Raises:
            KeyError: a key is missing and `strict` is true; nothing of this level has been changed then.
            TypeError: the state is no dictionary.
        """
        check_state(state_dict)
        missing = [name for name in (*self._modules, *self._attributes) if name not in state_dict]
        if missing and strict:
            raise KeyError(f"the state lacks {missing[0]!r}")
        # Everything is converted before anything is set, so that a bad value changes nothing.
        values = {
            name: attribute.from_json(state_dict[name]) if attribute.from_json else deepcopy(state_dict[name])
            for name, attribute in self._attributes.items()
            if name in state_dict
        }
        for name, module in self._modules.items():
            if name in state_dict:
                module.load_state_dict(state_dict[name], strict=strict)
        for name, value in values.items():
            setattr(self, name, value)


def check_state(state: object) -> None:
    """Refuse what cannot be a state.

    Raises:
        TypeError: it is no dictionary.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"a state must be a dictionary, not {reprlib.repr(state)}")
