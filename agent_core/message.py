"""Messages.

A `Msg` never changes once made: copies share it, stores need not copy it, and a caller's later edits cannot reach a
store. Names follow AgentScope 2.x (`agentscope.message`); `Msg.from_dict` also reads the message dictionaries of
AgentScope 1.x.
"""

from __future__ import annotations

import hashlib
import reprlib
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, NoReturn, cast, get_args, overload

import msgspec

from agent_core.block import (
    BLOCK_BY_NAME,
    B,
    Block,
    ContentBlock,
    DataBlock,
    HintBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)
from agent_core.json_like import finite, json_object, plain_str
from agent_core.message_dict import read_block, read_created_at

__all__ = [
    "AssistantMsg",
    "ContentBlock",
    "DataBlock",
    "HintBlock",
    "Msg",
    "Role",
    "SystemMsg",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolResultBlock",
    "ToolResultState",
    "UserMsg",
]

Role = Literal["user", "assistant", "system"]
_ROLES = get_args(Role)


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
        self._fill(
            plain_str(name, "name"),
            _checked_content(content),
            plain_str(role, "role"),
            json_object(metadata, "metadata") if metadata else None,
            plain_str(id, "id") if id else uuid.uuid4().hex,
            time.time() if created_at is None else finite(created_at, "created_at"),
        )

    @classmethod
    def trusted(
        cls,
        name: str,
        content: str | Sequence[ContentBlock],
        role: Role,
        metadata: dict[str, Any] | None,
        *,
        id: str,
        created_at: float,
    ) -> Msg:
        """A message of values that come from one and from strict JSON: they are kept as they are, unchecked."""
        msg = object.__new__(cls)
        msg._fill(name, content if isinstance(content, str) else tuple(content), role, metadata, id, created_at)
        return msg

    def _fill(
        self,
        name: str,
        content: str | tuple[ContentBlock, ...],
        role: str,
        metadata: dict[str, Any] | None,
        id: str,
        created_at: float,
    ) -> None:
        put = object.__setattr__
        put(self, "name", name)
        put(self, "_content", content)
        put(self, "role", role)
        put(self, "_metadata", metadata)
        put(self, "id", id)
        put(self, "created_at", created_at)
        put(self, "_hash", None)
        put(self, "_tokens", None)

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
        unknown = [name for name in names if name not in BLOCK_BY_NAME]
        if unknown:
            raise ValueError(f"unknown kind of block {unknown[0]!r}; known are {', '.join(BLOCK_BY_NAME)}")
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
        if not isinstance(data, Mapping):
            raise ValueError(f"not a message: {reprlib.repr(data)}")
        if missing := [field for field in ("name", "role", "content") if field not in data]:
            raise ValueError(f"not a message, it lacks {missing[0]!r}: {reprlib.repr(data)}")
        try:
            content = data["content"]
            return cls(
                name=data["name"],
                content=content if isinstance(content, str) else [read_block(block) for block in content],
                role=data["role"],
                metadata=data.get("metadata"),
                id=data.get("id"),
                created_at=read_created_at(data),
            )
        except (KeyError, OverflowError, TypeError, msgspec.ValidationError) as error:
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
        if not isinstance(block, Block):
            raise TypeError(f"content must hold blocks only, not {block!r}")
    return cast("tuple[ContentBlock, ...]", blocks)
