"""Messages and the blocks that they are made of.

A `Msg` never changes once made: copies share it, stores need not copy it, and a caller's later edits cannot reach a
store. Names follow AgentScope 2.x (`agentscope.message`); `Msg.from_dict` also reads the message dictionaries of
AgentScope 1.x.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any, Literal, NoReturn, TypeVar, cast, get_args, overload

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from agent_core.json_like import finite, json_object, plain_str
from agent_core.text import well_formed

Role = Literal["user", "assistant", "system"]
ToolResultState = Literal["success", "error", "interrupted", "denied"]


class _Block(Struct, frozen=True, tag_field="type"):
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


class TextBlock(_Block, frozen=True, tag="text"):
    """Text that a person or a model wrote."""

    text: str


class ThinkingBlock(_Block, frozen=True, tag="thinking"):
    """Reasoning text of a model, kept apart from its answer."""

    thinking: str


class HintBlock(_Block, frozen=True, tag="hint"):
    """Text given to the model from the side, such as a recalled memory. `source` says where it came from."""

    hint: str
    source: str | None = None


class DataBlock(_Block, frozen=True, tag="data"):
    """An image or another file: either base64 `data` or a `url`."""

    media_type: str
    data: str | None = None
    url: str | None = None
    name: str | None = None


class ToolCallBlock(_Block, frozen=True, tag="tool_call"):
    """A call that the model wants made. `input` is the raw JSON text as it was received, valid or not."""

    id: str
    name: str
    input: str = "{}"


class ToolResultBlock(_Block, frozen=True, tag="tool_result"):
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
B = TypeVar("B", bound=_Block)

_ROLES = get_args(Role)
_STATES = get_args(ToolResultState)
_BLOCK_BY_NAME: dict[str, type[_Block]] = {
    str(cls.__struct_config__.tag): cls for cls in cast("tuple[type[_Block], ...]", get_args(ContentBlock))
}


class Msg:
    """One message: who said what, in which role. Immutable and hashable by content.

    Args:
        name: who speaks.
        content: a str, or a sequence of blocks. It reads back as given: a str stays a str, a sequence becomes a list.
        role: `user`, `assistant` or `system`.
        metadata: JSON-like facts about the message: str keys; str, numbers, truth values, None, dicts and lists, to
            which tuples turn. Copied.
        id: made up when absent.
        created_at: seconds since the epoch; now when absent.

    Raises:
        ValueError: the role is unknown, or a number is not finite.
        TypeError: the content is neither a str nor blocks, or another value is none that every store can give back; it
            is named.
    """

    __slots__ = ("_content", "_hash", "_metadata", "_tokens", "created_at", "id", "name", "role")

    id: str
    name: str
    role: Role
    created_at: float
    _content: str | tuple[ContentBlock, ...]
    _metadata: dict[str, Any] | None
    _hash: str | None
    _tokens: int | None

    def __init__(
        self,
        name: str,
        content: str | Sequence[ContentBlock],
        role: Role,
        metadata: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        created_at: float | None = None,
    ) -> None:
        if role not in _ROLES:
            raise ValueError(f"role must be one of {', '.join(_ROLES)}, not {role!r}")
        self._set("name", plain_str(name, "name"))
        self._set("role", plain_str(role, "role"))
        self._set("id", plain_str(id, "id") if id else uuid.uuid4().hex)
        self._set("created_at", time.time() if created_at is None else finite(created_at, "created_at"))
        self._set("_content", _checked_content(content))
        self._set("_metadata", json_object(metadata, "metadata") if metadata else None)
        self._set("_hash", None)
        self._set("_tokens", None)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Msg cannot be changed; make a new one to set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Msg cannot be changed; cannot delete {name!r}")

    def __copy__(self) -> Msg:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Msg:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Msg.from_dict, (self.to_dict(),))

    @property
    def content(self) -> str | list[ContentBlock]:
        """The content as it was given; a list is a fresh one each time."""
        return self._content if isinstance(self._content, str) else list(self._content)

    @property
    def is_plain(self) -> bool:
        """Whether the content is a str, and so neither calls a tool nor answers a call."""
        return isinstance(self._content, str)

    @property
    def blocks(self) -> tuple[ContentBlock, ...]:
        """The content as blocks; a str counts as one `TextBlock`."""
        return (TextBlock(self._content),) if isinstance(self._content, str) else self._content

    @property
    def metadata(self) -> dict[str, Any]:
        """A copy of the facts about this message."""
        return deepcopy(self._metadata) if self._metadata else {}

    def get_metadata(self, key: str, default: Any = None) -> Any:
        """One fact about this message, copied; `default` when it has none of that name."""
        value = self._metadata.get(key, default) if self._metadata else default
        return deepcopy(value) if isinstance(value, dict | list) else value

    def remember_tokens(self, count: Callable[[Msg], int]) -> int:
        """What `count` gave for this message the first time; since a message never changes, it is asked only once."""
        if self._tokens is None:
            self._set("_tokens", count(self))
        return cast("int", self._tokens)

    @property
    def content_hash(self) -> str:
        """Twelve hexadecimal digits that change with what the message says, whoever stores it."""
        if self._hash is None:
            body = msgspec.json.encode([self.name, self.role, self._content])
            self._set("_hash", hashlib.sha256(body).hexdigest()[:12])
        return cast("str", self._hash)

    def get_text_content(self, separator: str = "\n") -> str | None:
        """The text blocks joined by `separator`; None when there is none."""
        texts = [block.text for block in self.blocks if isinstance(block, TextBlock)]
        return separator.join(texts) if texts else None

    @overload
    def get_content_blocks(self, block_type: type[B]) -> list[B]: ...
    @overload
    def get_content_blocks(self, block_type: str | Sequence[str] | None = None) -> list[ContentBlock]: ...
    def get_content_blocks(self, block_type: Any = None) -> list[Any]:
        """The blocks of one kind, or of several; all when `block_type` is None.

        Args:
            block_type: a kind's name such as `"tool_call"`, a sequence of names, or a block class.
        """
        if block_type is None:
            return list(self.blocks)
        if isinstance(block_type, type):
            return [block for block in self.blocks if isinstance(block, block_type)]
        names = [block_type] if isinstance(block_type, str) else list(block_type)
        unknown = [name for name in names if name not in _BLOCK_BY_NAME]
        if unknown:
            raise ValueError(f"unknown kind of block {unknown[0]!r}; known are {', '.join(_BLOCK_BY_NAME)}")
        return [block for block in self.blocks if block.type in names]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-safe dictionary from which `from_dict` makes an equal message."""
        return {
            "id": self.id,
            "name": self.name,
            "role": self.role,
            "content": self._content if isinstance(self._content, str) else list(msgspec.to_builtins(self._content)),
            "metadata": self.metadata,
            "created_at": self.created_at,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Msg:
        """Make a message from `to_dict` output, or from a message dictionary of AgentScope 1.x.

        Raises:
            ValueError: a field is missing or has no meaning here.
        """
        try:
            content = data["content"]
            return cls(
                name=data["name"],
                content=content if isinstance(content, str) else [_block_from_dict(block) for block in content],
                role=data["role"],
                metadata=data.get("metadata"),
                id=data.get("id"),
                created_at=_created_at(data),
            )
        except (KeyError, TypeError, msgspec.ValidationError) as error:
            raise ValueError(f"not a message: {error}") from error

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Msg):
            return NotImplemented
        mine = (self.id, self.name, self.role, self._content, self._metadata)
        return mine == (other.id, other.name, other.role, other._content, other._metadata)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Msg(id={self.id!r}, name={self.name!r}, role={self.role!r}, content={self._content!r})"


def UserMsg(name: str, content: str | Sequence[ContentBlock], **kwargs: Any) -> Msg:
    """A message in the role `user`."""
    return Msg(name, content, "user", **kwargs)


def AssistantMsg(name: str, content: str | Sequence[ContentBlock], **kwargs: Any) -> Msg:
    """A message in the role `assistant`."""
    return Msg(name, content, "assistant", **kwargs)


def SystemMsg(name: str, content: str | Sequence[ContentBlock], **kwargs: Any) -> Msg:
    """A message in the role `system`."""
    return Msg(name, content, "system", **kwargs)


def _checked_content(content: object) -> str | tuple[ContentBlock, ...]:
    if isinstance(content, str):
        return plain_str(content, "content")
    if not isinstance(content, Iterable):
        raise TypeError(f"content must be a str or a list of blocks, not {content!r}")
    blocks = tuple(content)
    for block in blocks:
        if not isinstance(block, _Block):
            raise TypeError(f"content must hold blocks only, not {block!r}")
    return cast("tuple[ContentBlock, ...]", blocks)


def _default_of(kind: type[_Block], name: str) -> object:
    # Fields with a default come last.
    defaults = zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False)
    return dict(defaults).get(name, msgspec.NODEFAULT)


def _block_from_dict(data: object) -> ContentBlock:
    if not isinstance(data, Mapping):
        raise ValueError(f"not a block: {data!r}")
    return cast("ContentBlock", msgspec.convert(_from_agentscope_1(dict(data)), ContentBlock))


def _from_agentscope_1(data: dict[str, Any]) -> dict[str, Any]:
    """Rename what AgentScope 1.x calls differently: tool_use, tool_result content, media sources."""
    kind = data.get("type")
    if kind == "tool_use":
        raw = data.get("raw_input") or data.get("input") or {}
        text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
        return {"type": "tool_call", "id": data["id"], "name": data["name"], "input": text}
    if kind == "tool_result":
        output = data.get("output") or ""
        if not isinstance(output, str):
            output = [_from_agentscope_1(dict(block)) for block in output]
        return {**data, "output": output}
    if kind in ("image", "audio", "video"):
        source = data["source"]
        media_type = source.get("media_type") or f"{kind}/*"
        return {"type": "data", "media_type": media_type, "data": source.get("data"), "url": source.get("url")}
    return data


def _created_at(data: Mapping[str, Any]) -> float | None:
    """Seconds since the epoch, from our own field or from AgentScope 1.x's local `timestamp` text."""
    if data.get("created_at") is not None:
        return float(data["created_at"])
    stamp = data.get("timestamp")
    return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) and stamp else None
