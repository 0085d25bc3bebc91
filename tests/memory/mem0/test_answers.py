from __future__ import annotations

from typing import Any

import pytest

from agent_core.errors import StorageError
from agent_core.event import FactChange
from memory.mem0.answers import Fact, facts_in, moment, written_in


class Dumped:
    """Such as pydantic's models are."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self._fields


EMPTY: list[Any] = [
    {"results": [], "relations": []},
    {"results": []},
    {"results": None},
    {"memories": []},
    {"results": {"results": []}},
    {"results": {}},
    {"results": None, "memories": []},
    {"data": []},
    {"results": [{"memory": ""}, None, " "]},
    [],
    (),
]
ONE: list[Any] = [
    [{"id": "1", "memory": "text"}],
    {"results": [{"id": "1", "memory": "text"}]},
    {"memories": [{"id": "1", "memory": "text"}]},
    {"results": {"results": [{"id": "1", "memory": "text"}]}},
    {"count": 1, "next": None, "results": [{"id": "1", "memory": "text"}]},
    [{"id": "1", "text": "text"}],
    [{"id": "1", "data": {"memory": "text"}}],
    {"id": "1", "memory": "text"},
    {"data": [{"id": "1", "memory": "text"}]},
    {"results": None, "memories": [{"id": "1", "memory": "text"}]},
    [Dumped(id="1", memory="text")],
    Dumped(results=[Dumped(id="1", memory="text")]),
]
UNREADABLE: list[Any] = [{"id": "1"}, {"payload": {"data": "text"}}, ["text"], ({"memory": "text"}, 0.5), 7, object()]
STRANGE: list[Any] = [None, "text", 7, {}, {"status": "fine"}, object()]


@pytest.mark.parametrize("answer", EMPTY)
def test_an_empty_store_gives_no_memories_in_every_shape(answer: Any) -> None:
    """D01: the dictionary around the results was iterated instead of them."""
    assert facts_in(answer) == []


@pytest.mark.parametrize("answer", ONE)
def test_memories_are_found_in_every_shape(answer: Any) -> None:
    """D02: the hosted client gives a bare list, others wrap it."""
    assert facts_in(answer) == [Fact(id="1", text="text")]


@pytest.mark.parametrize("answer", STRANGE)
def test_what_is_no_list_of_memories_is_a_clear_error(answer: Any) -> None:
    """D02: anything else must not look like an empty store."""
    with pytest.raises(StorageError, match="no list of memories"):
        facts_in(answer)


@pytest.mark.parametrize("item", UNREADABLE)
def test_memories_of_which_none_can_be_read_do_not_look_like_an_empty_store(item: Any) -> None:
    """D02."""
    with pytest.raises(StorageError, match="cannot be read"):
        facts_in({"results": [item, None]})
    assert [fact.text for fact in facts_in([item, {"memory": "text"}])] == ["text"]


def test_a_write_of_which_nothing_can_be_read_is_unknown() -> None:
    """D10."""
    assert written_in({"results": [{"payload": "text"}]}).finish == "unknown"
    assert written_in({"results": [7]}).finish == "unknown"


def test_an_error_in_the_place_of_a_memory_is_an_error() -> None:
    for look in (facts_in, written_in):
        with pytest.raises(StorageError, match="quota"):
            look({"results": [{"error": "quota is used up"}]})


def test_an_error_in_the_answer_is_an_error() -> None:
    with pytest.raises(StorageError, match="quota"):
        facts_in({"error": "quota is used up"})
    with pytest.raises(StorageError, match="not found"):
        written_in({"detail": "not found"})


def test_memories_that_are_only_texts_are_memories() -> None:
    """D14: a string was indexed like a dictionary."""
    assert [fact.text for fact in facts_in({"results": ["one", "two", "  ", 3, None]})] == ["one", "two"]
    assert facts_in([{"id": "1", "memory": ["no", "text"]}]) == []


def test_what_the_store_knows_of_a_memory_is_taken_over() -> None:
    row = {
        "id": 7,
        "memory": " half \ud83d ",
        "score": 0.5,
        "created_at": "2026-11-30T12:00:00+00:00",
        "updated_at": "2026-11-30T12:00:00",
        "agent_id": "helper",
        "user_id": "alice",
        "metadata": {
            "superseded_by": "8",
            "superseded_at": "2026-12-01T00:00:00Z",
            "match": {"why": "shares x"},
            "a": 1,
        },
    }
    (fact,) = facts_in([row])
    assert (fact.id, fact.text, fact.score, fact.why) == ("7", "half \ufffd", 0.5, "shares x")
    assert (fact.user, fact.agent) == ("alice", "helper")
    assert fact.created == fact.updated == moment("2026-11-30T13:00:00+01:00")
    assert (fact.superseded_by, fact.superseded) == ("8", moment("2026-12-01T00:00:00+00:00"))
    assert fact.extra == {"a": 1}


@pytest.mark.parametrize("value", [None, "", "yesterday", True, []])
def test_a_time_that_is_none_is_none(value: Any) -> None:
    assert moment(value) is None


def test_a_write_says_what_was_done() -> None:
    answer = {"results": [{"id": "1", "memory": "a", "event": "ADD"}, {"id": "2", "memory": "b", "event": "UPDATE"}]}
    written = written_in(answer)
    assert written.finish == "stored"
    assert written.changes == (FactChange("1", "a", "added"), FactChange("2", "b", "updated"))
    assert written_in([{"id": "1", "data": {"memory": "a"}, "event": "ADD"}]).changes == (
        FactChange("1", "a", "added"),
    )


@pytest.mark.parametrize("answer", [*EMPTY, {"results": [{"id": "1", "memory": "a", "event": "NONE"}]}])
def test_a_write_of_nothing_new_is_not_a_success(answer: Any) -> None:
    assert written_in(answer).finish == "nothing"


@pytest.mark.parametrize("answer", [None, {"message": "thanks"}, {}])
def test_a_write_that_says_nothing_is_unknown(answer: Any) -> None:
    """D10: a wrapper lost what the method returned; that is not a success."""
    assert written_in(answer).finish == "unknown"


@pytest.mark.parametrize(
    "answer",
    [{"status": "PENDING", "event_id": "e-1"}, [{"status": "PENDING", "event_id": "e-1", "message": "queued"}]],
)
def test_a_write_that_a_service_works_on_later_is_accepted(answer: Any) -> None:
    written = written_in(answer)
    assert written.finish == "accepted"
    assert "e-1" in written.detail


@pytest.mark.parametrize("value", [10**400, float("nan"), float("inf"), -1, 1e300, True, "9" * 30, [1]])
def test_numbers_that_no_calendar_and_no_ranking_knows_are_left_out(value: Any) -> None:
    """D02: such as milliseconds or nonsense of a service."""
    (fact,) = facts_in([{"memory": "tea", "created_at": value, "updated_at": value}])
    assert (fact.created, fact.updated) == (None, None)
    (fact,) = facts_in([{"memory": "tea", "score": value if value != -1 else None}])
    assert fact.score is None


def test_lone_surrogates_anywhere_can_be_written_down() -> None:
    bad = "\ud83d"
    item = {"id": bad, "memory": bad, "user_id": bad, "agent_id": bad, "superseded_by": bad}
    (fact,) = facts_in([item])
    for text in (fact.id, fact.text, fact.user, fact.agent, fact.superseded_by):
        assert text.encode()
    (change,) = written_in([item]).changes
    assert change.memory_id.encode()
    for answer in ({"message": bad}, {"event_id": bad}):
        assert written_in(answer).detail.encode()
    with pytest.raises(StorageError) as caught:
        facts_in({"error": bad})
    assert str(caught.value).encode()
