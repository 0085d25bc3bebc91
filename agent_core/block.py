"""The blocks that messages are made of. Import them from `agent_core.message`."""

from __future__ import annotations

from typing import Literal, TypeVar, cast, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from agent_core.json_like import plain_str
from agent_core.text import well_formed

ToolResultState = Literal["success", "error", "interrupted", "denied"]


class Block(Struct, frozen=True, tag_field="type"):
    """Base of all blocks: immutable, and never holding what a store could not give back.

    Raises:
        TypeError: a field is of another type; it is named.
    """

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if type(value) is not str:
                force_setattr(self, name, self._checked(name, value))
            elif not value.isascii():
                force_setattr(self, name, well_formed(value))

    def _checked(self, name: str, value: object) -> object:
        """What is kept of a value that is no plain str."""
        if value is None and _default_of(type(self), name) is None:
            return None
        return plain_str(value, f"{name} of a {self.type} block")

    @property
    def type(self) -> str:
        """The tag that names this kind of block in JSON, for example `text`."""
        return str(self.__struct_config__.tag)


class TextBlock(Block, frozen=True, tag="text"):
    """Text that a person or a model wrote."""

    text: str


class ThinkingBlock(Block, frozen=True, tag="thinking"):
    """Reasoning text of a model, kept apart from its answer."""

    thinking: str


class HintBlock(Block, frozen=True, tag="hint"):
    """Text given to the model from the side, such as a recalled memory. `source` says where it came from."""

    hint: str
    source: str | None = None


class DataBlock(Block, frozen=True, tag="data"):
    """An image or another file: either base64 `data` or a `url`."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


class ToolCallBlock(Block, frozen=True, tag="tool_call"):
    """A call that the model wants made. `input` is the raw JSON text as it was received, valid or not."""

    id: str
    name: str
    input: str = "{}"


class ToolResultBlock(Block, frozen=True, tag="tool_result"):
    """What a call gave. `id` is the id of the `ToolCallBlock` that it answers."""

    id: str
    name: str
    output: str | tuple[TextBlock | DataBlock, ...]
    state: ToolResultState = "success"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.state not in _STATES:
            raise ValueError(f"state must be one of {', '.join(_STATES)}, not {self.state!r}")

    def _checked(self, name: str, value: object) -> object:
        if name != "output" or isinstance(value, str):
            return super()._checked(name, value)
        if not isinstance(value, list | tuple) or not all(isinstance(block, TextBlock | DataBlock) for block in value):
            raise TypeError(f"output must be a str, or text and data blocks, not {value!r}")
        return tuple(value)

    def text(self) -> str:
        """The text of the output, data left out."""
        if isinstance(self.output, str):
            return self.output
        return "\n".join(block.text for block in self.output if isinstance(block, TextBlock))


ContentBlock = TextBlock | ThinkingBlock | HintBlock | DataBlock | ToolCallBlock | ToolResultBlock
B = TypeVar("B", bound=Block)

_STATES = get_args(ToolResultState)
BLOCK_BY_NAME: dict[str, type[Block]] = {
    str(cls.__struct_config__.tag): cls for cls in cast("tuple[type[Block], ...]", get_args(ContentBlock))
}


def _default_of(kind: type[Block], name: str) -> object:
    # Fields with a default come last.
    defaults = zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False)
    return dict(defaults).get(name, msgspec.NODEFAULT)
