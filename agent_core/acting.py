"""Making the calls of a round: permission, execution, and a result for every call, whatever happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_core.errors import ToolError, described
from agent_core.event import Answer, Event, PermissionAnswered, PermissionAsked, ToolEnded, ToolStarted
from agent_core.finishing import cancel_requests, closing, finish
from agent_core.marks import TOOL
from agent_core.message import DataBlock, Msg, SystemMsg, TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState
from agent_core.onion import call_through, merged, stream_through
from agent_core.permission import PermissionBehavior, PermissionDecision
from agent_core.permission_engine import decide_permission
from agent_core.text import shorten
from agent_core.tokens import estimate_tokens
from agent_core.tool.arguments import parse_arguments
from agent_core.tool.base import CallContext, ToolBase, ToolOutput, serving

if TYPE_CHECKING:
    from agent_core.reply import ReplyRun

INTERRUPTED = "Interrupted: this call did not finish."
NO_ONE_TO_ASK = "Not allowed: this needs a person's permission, and there is no one to ask."
REFUSED = "The user refused this call. Do not repeat it; go on without it or ask what they would like instead."


class _Result(NamedTuple):
    output: ToolOutput
    state: ToolResultState
    diff: str = ""
    seconds: float = 0.0


class Acting:
    """Makes the calls of one round for a running reply."""

    def __init__(self, run: ReplyRun, finish_reason: str | None) -> None:
        self._run = run
        self._agent = run.agent
        self._finish_reason = finish_reason
        self._results: dict[str, str] = {}

    async def make(self, calls: Sequence[ToolCallBlock]) -> AsyncIterator[Event]:
        """Make the calls in order; neighbours that are safe to run at the same time do."""
        for batch in self._batches(calls):
            async with closing(merged([self._make_one(call) for call in batch])) as events:
                async for event in events:
                    yield event
        await self.give_up()

    async def give_up(self) -> None:
        """Give an interrupted result to every call of the reply that has none."""
        for call in list(self._run.open_calls.values()):
            self._run.append(await self._store(call, _Result(INTERRUPTED, "interrupted")))

    def _batches(self, calls: Sequence[ToolCallBlock]) -> Iterator[list[ToolCallBlock]]:
        batch: list[ToolCallBlock] = []
        for call in calls:
            tool = self._agent.toolkit.get(call.name)
            if tool is not None and tool.is_concurrency_safe:
                batch.append(call)
                continue
            if batch:
                yield batch
            yield [call]
            batch = []
        if batch:
            yield batch

    async def _make_one(self, call: ToolCallBlock) -> AsyncIterator[Event]:
        tool = self._agent.toolkit.get(call.name)
        try:
            if tool is None:
                raise ToolError(f"There is no tool {call.name!r}. There are: {', '.join(self._agent.toolkit.names)}.")
            arguments = parse_arguments(call.input, self._finish_reason)
            check_arguments(tool.input_schema, arguments)
        except ToolError as error:
            yield self._run.emit(await self._store(call, _Result(str(error), "error")))
            return
        decision = await self._decide(call, tool, arguments)
        refusal = decision.message or "Not allowed." if decision.behavior is PermissionBehavior.DENY else ""
        if decision.behavior is PermissionBehavior.ASK or decision.behavior is PermissionBehavior.PASSTHROUGH:
            refusal = await self._ask(call, tool, arguments, decision)
        if refusal:
            yield self._run.emit(await self._store(call, _Result(refusal, "denied")))
            return

        async def act(tool_call: ToolCallBlock) -> AsyncIterator[Event]:
            given = arguments if tool_call is call else parse_arguments(tool_call.input, None)
            yield self._run.emit(ToolStarted(call_id=call.id, tool=tool.name, arguments=given))
            yield self._run.emit(await self._store(call, await self._execute(call, tool, given, decision.path)))

        async with closing(stream_through(self._agent, "on_acting", act, self._run.adopt, tool_call=call)) as events:
            async for event in events:
                yield event

    async def _decide(self, call: ToolCallBlock, tool: ToolBase, arguments: dict[str, Any]) -> PermissionDecision:
        context = self._agent.state.permission_context

        async def decide(tool_call: ToolCallBlock, tool: ToolBase, tool_input: dict[str, Any]) -> PermissionDecision:
            return await decide_permission(tool, tool_input, context)

        return await call_through(
            self._agent, "on_check_permission", decide, tool_call=call, tool=tool, tool_input=dict(arguments)
        )

    async def _ask(
        self, call: ToolCallBlock, tool: ToolBase, arguments: dict[str, Any], decision: PermissionDecision
    ) -> str:
        """Ask a person; the reason of a refusal, or an empty text when the call may be made."""
        # Questions are put one at a time: two calls that run side by side must not talk over each other.
        async with self._run.asking:
            diff = await _preview(tool, arguments)
            question = decision.message or f"Allow {tool.name}?"
            self._run.append(
                PermissionAsked(call_id=call.id, tool=tool.name, arguments=arguments, question=question, diff=diff)
            )
            answer, reason = await self._answer(call, diff)
            self._run.append(PermissionAnswered(call_id=call.id, answer=answer, reason=reason))
        if answer == "always":
            self._agent.state.permission_context.rules.extend(decision.suggested_rules)
        return (reason or REFUSED) if answer == "no" else ""

    async def _answer(self, call: ToolCallBlock, diff: str) -> tuple[Answer, str]:
        if self._agent.approve is None:
            return "no", NO_ONE_TO_ASK
        try:
            answer = await self._agent.approve(call, diff)
            if answer not in ("once", "always", "no"):
                raise ValueError(f"approve must answer 'once', 'always' or 'no', not {answer!r}")
        except BaseException as error:
            reason = str(error) if isinstance(error, Exception) else "interrupted"
            self._run.append(PermissionAnswered(call_id=call.id, answer="no", reason=reason))
            raise
        return answer, ""

    async def _execute(
        self, call: ToolCallBlock, tool: ToolBase, arguments: dict[str, Any], permitted_path: str | None
    ) -> _Result:
        reads = self._agent.state.reads
        context = CallContext(reads, self._run.append, call.id, self._run.reply_id, permitted_path)
        started = time.monotonic()
        asked_to_end = cancel_requests()
        try:
            with serving(context):
                output, outcome = _checked(await tool.call(**arguments)), "success"
        except ToolError as error:
            output, outcome = str(error), "error"
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            # A tool that exits, or that awaits what somebody has cancelled, ends its call and not the reply.
            if isinstance(error, asyncio.CancelledError) and cancel_requests() > asked_to_end:
                raise
            output, outcome = f"{tool.name} failed: {described(error)}", "error"
        output = _limited(output, self._agent.context_config.tool_result_limit)
        return _Result(output, "success" if outcome == "success" else "error", context.diff, time.monotonic() - started)

    async def _store(self, call: ToolCallBlock, result: _Result) -> ToolEnded:
        """Store the result as a message, and give the event that says so."""
        output = result.output if isinstance(result.output, str) else tuple(result.output)
        msg = SystemMsg(call.name, [ToolResultBlock(call.id, call.name, output, result.state)])
        ended = ToolEnded(
            call_id=call.id,
            tool=call.name,
            state=result.state,
            msg_id=msg.id,
            seconds=result.seconds,
            diff=result.diff,
        )
        self._run.open_calls.pop(call.id, None)
        try:
            await self._run.store(msg, TOOL)
        except BaseException:
            # What waits for the event will not get it.
            self._run.append(ended)
            raise
        await self._supersede(call, msg)
        return ended

    async def _supersede(self, call: ToolCallBlock, msg: Msg) -> None:
        """Of the results of a call that a middleware has made several times, keep the last."""
        earlier = self._results.get(call.id)
        self._results[call.id] = msg.id
        if earlier is not None:
            await finish(self._agent.memory.delete([earlier]))


_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def check_arguments(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Check names and types of arguments against the top level of a JSON schema.

    Raises:
        ToolError: what is missing, unknown or of the wrong type, so that the model can mend it.
    """
    properties: dict[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in arguments:
            raise ToolError(f"The argument {name!r} is missing.")
    for name, value in arguments.items():
        if name not in properties:
            if schema.get("additionalProperties", False):
                continue
            raise ToolError(f"There is no argument {name!r}; there are: {', '.join(properties)}.")
        kind = properties[name].get("type")
        expected = _JSON_TYPES.get(kind) if isinstance(kind, str) else None
        wrong_bool = isinstance(value, bool) and kind in ("integer", "number")
        if expected and (not isinstance(value, expected) or wrong_bool):
            raise ToolError(f"The argument {name!r} must be of type {kind}, not {shorten(repr(value), 80)}.")


async def _preview(tool: ToolBase, arguments: dict[str, Any]) -> str:
    try:
        return await tool.preview(arguments)
    except Exception:
        # What is wrong will be told when the call is made; asking a person must not fail on it.
        return ""


def _checked(output: object) -> ToolOutput:
    """What a tool gave back, which may come from anybody's code."""
    if isinstance(output, str):
        return output
    if isinstance(output, list | tuple) and all(isinstance(block, TextBlock | DataBlock) for block in output):
        return list(output)
    raise TypeError(f"it gave back {shorten(repr(output), 80)}, and neither text nor a list of text and data blocks")


def _limited(output: ToolOutput, limit: int | None) -> ToolOutput:
    if limit is None or not isinstance(output, str) or estimate_tokens(output) <= limit:
        return output
    kept = len(output) * limit // estimate_tokens(output)
    return f"{output[:kept]}\n[cut: {len(output) - kept} of {len(output)} characters are left out]"
