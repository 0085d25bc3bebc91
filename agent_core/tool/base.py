"""Tools, the toolkit that holds them, and what a tool may know about the call that it serves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agent_core.event import Event
from agent_core.message import DataBlock, TextBlock
from agent_core.model.base import ToolSchema
from agent_core.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agent_core.tool.backend import BackendBase
from agent_core.tool.read_record import ReadRecord

ToolOutput = str | list[TextBlock | DataBlock]


class ToolBase(ABC):
    """Something that the model can have done.

    Attributes:
        name: what the model calls it by.
        description: what it does, for the model.
        input_schema: JSON schema of its arguments, an object.
        is_read_only: it changes nothing; allowed where nothing may be changed.
        is_concurrency_safe: several calls may run at the same time.
        backend: where the files are that it works on; None for this machine's disk, or for tools without files.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    is_read_only: bool = False
    is_concurrency_safe: bool = False
    backend: BackendBase | None = None

    @abstractmethod
    async def call(self, *args: Any, **arguments: Any) -> ToolOutput:
        """Do it and return text or blocks. Raising makes an error result with the exception's text.

        Arguments come by name; `*args` is here only so that a tool may spell out its own.
        """

    async def check_permissions(self, arguments: dict[str, Any], context: PermissionContext) -> PermissionDecision:
        """The tool's own opinion on a call; PASSTHROUGH leaves it to the rules and the mode."""
        return PermissionDecision(PermissionBehavior.PASSTHROUGH)

    async def resolve_path(self, arguments: dict[str, Any]) -> str | None:
        """The absolute path, links resolved, that the call is about; None for tools that touch no file."""
        return None

    async def preview(self, arguments: dict[str, Any]) -> str:
        """A unified diff of what the call would change, for the person who is asked; empty when there is none."""
        return ""

    @property
    def schema(self) -> ToolSchema:
        """The tool as the model sees it."""
        return ToolSchema(self.name, self.description, self.input_schema)


class CallContext:
    """What a tool may use while it serves a call: the agent's read record, a way to tell, the call's id.

    `permitted_path` is the resolved path that the permission was given for: a tool refuses to work on another one.
    `diff` is set by tools that change files, so that the result's event can carry it.
    """

    def __init__(
        self,
        reads: ReadRecord | None = None,
        emit: Callable[[Event], Event] | None = None,
        call_id: str = "",
        reply_id: str | None = None,
        permitted_path: str | None = None,
    ) -> None:
        self.reads = reads if reads is not None else ReadRecord()
        self.call_id = call_id
        self.reply_id = reply_id
        self.permitted_path = permitted_path
        self.diff = ""
        self._emit = emit

    def emit(self, event: Event) -> None:
        """Append an event to the trace of the agent that makes the call; without an agent nobody hears it."""
        if self._emit is not None:
            self._emit(event)


_outside_any_agent = CallContext()
_current: ContextVar[CallContext | None] = ContextVar("call_context", default=None)


def current_call() -> CallContext:
    """The context of the call being served; one shared by the process when a tool is called without an agent."""
    return _current.get() or _outside_any_agent


@contextmanager
def serving(context: CallContext) -> Iterator[CallContext]:
    """Make `context` the current one for the calls made inside."""
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


class Toolkit:
    """The tools that an agent holds, by name, in the order given.

    Raises:
        ValueError: two tools have the same name.
    """

    def __init__(self, tools: Iterable[ToolBase] = ()) -> None:
        self._tools: dict[str, ToolBase] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: ToolBase) -> None:
        """Add one tool."""
        if tool.name in self._tools:
            raise ValueError(f"there is already a tool named {tool.name!r}")
        self._tools[tool.name] = tool

    def get(self, name: str) -> ToolBase | None:
        """The tool of that name, or None."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools."""
        return tuple(self._tools)

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """All tools as the model sees them."""
        return tuple(tool.schema for tool in self._tools.values())
