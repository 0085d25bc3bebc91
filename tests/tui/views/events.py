"""Events as hypothesis makes them: a session as it may happen, whole, cut, or in odd order."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

from hypothesis import strategies as st

from agent_core.agent import Agent
from agent_core.change import (
    Added,
    Cleared,
    Deleted,
    Inserted,
    Marked,
    MarksChange,
    Snapshot,
    StoredEntry,
    SummaryChanged,
)
from agent_core.event import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    CompressionEnded,
    CompressionStarted,
    Event,
    FactChange,
    FactsFinish,
    FactsSource,
    FactsWriteStarted,
    FactsWritten,
    FileChanged,
    FilterChanged,
    IndexRead,
    MemoryChanged,
    PromptPart,
    PromptSent,
    RecalledMemory,
    ReplyEnded,
    ReplyStarted,
    RetrievalCarriedOver,
    RetrievalEnded,
    RetrievalSettled,
    RetrievalSkipped,
    RetrievalStage,
    RetrievalStarted,
    RoundStarted,
    ToolEnded,
    ToolStarted,
)
from agent_core.marks import MemoryFilter
from agent_core.message import AssistantMsg, HintBlock, Msg, SystemMsg, ToolCallBlock, ToolResultBlock, UserMsg
from agent_core.model.scripted_model import ScriptedChatModel
from memory import InMemoryMemory

MARKS = ("planning", "draft", "a,b", "[/x]", "🙂", "hint", "tool", "compressed")
IDS = tuple(f"m{number}" for number in range(8))
REPLIES = ("r1", "r2", None)

marks = st.lists(st.sampled_from(MARKS), max_size=3, unique=True).map(tuple)
ids = st.sampled_from(IDS)
reply_ids = st.sampled_from(REPLIES)
seconds = st.floats(-10, 1e4, allow_nan=False)
filters = st.builds(MemoryFilter, st.none() | st.sampled_from(MARKS), st.none() | st.sampled_from(MARKS), st.booleans())


def message(id_: str, kind: int) -> Msg:
    """One of several kinds of message: text, call, result, one that replaces another, a hint."""
    call = f"call{kind % 3}"
    match kind // 3:
        case 0:
            return UserMsg("user", f"question {id_} [/x]", id=id_)
        case 1:
            return AssistantMsg("helper", [ToolCallBlock(call, "Read", "{}")], id=id_)
        case 2:
            return SystemMsg("Read", [ToolResultBlock(call, "Read", "text")], id=id_)
        case 3:
            return AssistantMsg("memory", [HintBlock("remember", "memory:x.md")], id=id_, metadata={"replaces": call})
    return AssistantMsg("helper", f"answer {id_}", id=id_)


messages = st.builds(message, ids, st.integers(0, 14))
stored = st.builds(StoredEntry, st.integers(0, 9), messages, marks)
entries = st.lists(stored, max_size=4).map(tuple)
changes = st.one_of(
    st.builds(Added, entries),
    st.builds(Inserted, entries),
    st.builds(Deleted, entries),
    st.builds(Marked, st.lists(st.builds(MarksChange, st.integers(-2, 9), ids, marks, marks), max_size=4).map(tuple)),
    st.builds(SummaryChanged, st.sampled_from(["", "old"]), st.sampled_from(["", "new"])),
    st.builds(Cleared, entries, st.just("")),
    st.builds(Snapshot, entries, st.sampled_from(["", "summary"])),
)


def _event(kind: type[Event], /, **fields: Any) -> st.SearchStrategy[Event]:
    return st.builds(kind, reply_id=reply_ids, at=seconds, **fields)


sources = st.sampled_from(["/m", "mem0:alice"])
fact_actions = st.sampled_from(["added", "updated", "superseded", "deleted", "known"])
fact_changes = st.builds(FactChange, ids, st.sampled_from(["", "likes [/x]"]), fact_actions, ids)
retrieval_ids = st.sampled_from(["x", "y"])
block_ids = st.sampled_from(["b1", "b2"])
block_kinds = st.sampled_from(["text", "thinking", "tool_call"])
recalled = st.builds(RecalledMemory, st.just("/m/x.md"), st.just("h"), st.just("text"), st.just("why"), st.none())
part = st.builds(PromptPart, st.just("message"), ids, st.just("user"), st.integers(0, 9), st.booleans())
events: st.SearchStrategy[Event] = st.one_of(
    _event(ReplyStarted, agent=st.just("helper"), inputs=st.lists(ids, max_size=2).map(tuple)),
    _event(ReplyEnded, finish=st.sampled_from(["completed", "error"])),
    _event(RoundStarted, round=st.integers(0, 120)),
    _event(
        PromptSent,
        round=st.just(1),
        model=st.just("m"),
        parts=st.lists(part, max_size=2).map(tuple),
        removed=st.lists(ids, max_size=2).map(tuple),
        tokens=st.integers(0, 10),
        context_size=st.none() | st.integers(0, 10),
    ),
    _event(BlockStarted, block_id=block_ids, kind=block_kinds, name=st.just("Read")),
    _event(BlockDelta, block_id=block_ids, kind=block_kinds, text=st.text()),
    _event(BlockEnded, block_id=block_ids),
    _event(MemoryChanged, change=changes),
    _event(FilterChanged, memory_filter=filters),
    _event(CompressionStarted, messages=st.just(3), tokens=st.just(4)),
    _event(CompressionEnded, error=st.sampled_from(["", "no"])),
    _event(IndexRead, path=st.just("/m/MEMORY.md"), found=st.booleans(), lines=st.integers(0, 3)),
    _event(FileChanged, path=st.just("/m/x.md"), origin=st.sampled_from(["user", "model"])),
    _event(RetrievalStarted, retrieval_id=retrieval_ids, source=sources, question=st.just("where?")),
    _event(RetrievalSkipped, source=sources, reason=st.just("top_k is 0")),
    _event(FactsWriteStarted, write_id=retrieval_ids, source=sources),
    _event(
        FactsWritten,
        write_id=retrieval_ids,
        source=sources,
        finish=st.sampled_from(get_args(FactsFinish)),
        how=st.sampled_from(get_args(FactsSource)),
        changes=st.lists(fact_changes, max_size=2).map(tuple),
    ),
    _event(ToolStarted, call_id=block_ids, tool=st.just("search_memory"), arguments=st.just({"keywords": ["[/x]"]})),
    _event(ToolEnded, call_id=block_ids, tool=st.just("search_memory"), state=st.sampled_from(["success", "error"])),
    _event(
        RetrievalStage,
        retrieval_id=retrieval_ids,
        stage=st.sampled_from(["scan", "search", "select", "read", "other"]),
        seconds=seconds,
    ),
    _event(
        RetrievalEnded,
        retrieval_id=retrieval_ids,
        finish=st.sampled_from(["found", "nothing", "cancelled", "failed"]),
        memories=st.lists(recalled, max_size=2).map(tuple),
    ),
    _event(
        RetrievalSettled,
        retrieval_id=retrieval_ids,
        outcome=st.sampled_from(["injected", "nothing", "known", "late", "cancelled", "failed"]),
        carried_over=st.booleans(),
    ),
    _event(RetrievalCarriedOver, retrieval_id=retrieval_ids),
)
any_events = st.lists(events, max_size=40)
"""Events in any order: what a session that was cut anywhere, or mended by hand, may hold."""


def agent_with(*script: Any, memory: Any = None, **options: Any) -> Agent:
    """An agent that plays a script."""
    return Agent("helper", "", ScriptedChatModel(script), memory=memory or InMemoryMemory(), **options)


def run(coroutine: Any) -> Any:
    """Run one coroutine, for tests that hypothesis drives and that are not coroutines themselves."""
    return asyncio.run(coroutine)
