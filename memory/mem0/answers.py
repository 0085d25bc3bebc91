"""What mem0 answers, in its many shapes, as our own types. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec import Struct, field

from agent_core.errors import StorageError
from agent_core.event import FactChange, FactsFinish
from agent_core.text import first_line, well_formed

SUPERSEDED_BY = "superseded_by"
SUPERSEDED_AT = "superseded_at"

_LISTS = ("results", "memories")
_TEXTS = ("memory", "text", "data", "content")
_KNOWN = frozenset({"id", "score", "created_at", "updated_at", "metadata", "user_id", *_TEXTS})
_LARGEST_SCORE = 1e9
_LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
_ACTIONS = {"ADD": "added", "UPDATE": "updated", "DELETE": "deleted"}


class Fact(Struct, frozen=True, kw_only=True):
    """One memory of a store.

    Args:
        id: names it in its store; empty where the store does not say.
        text: what it says.
        created: seconds since the epoch, None where the store does not say.
        updated: the same.
        score: how well it fits what was searched; comparable within one search only. None where nothing was searched.
        user: whose it is, or empty where the store does not say.
        agent: the agent that it was stored for, or empty.
        superseded_by: id of the memory that replaced it, or empty.
        superseded: when that was, in seconds since the epoch.
        why: a few words for people on why it was found, or empty.
        is_related: whether it has to do with what was searched, as far as the store can tell; the others are merely the
            best of what is left.
        extra: whatever else the store holds of it.
    """

    id: str
    text: str
    created: float | None = None
    updated: float | None = None
    score: float | None = None
    user: str = ""
    agent: str = ""
    superseded_by: str = ""
    superseded: float | None = None
    why: str = ""
    is_related: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def said_at(self) -> float | None:
        """When it got the text that it has; being replaced changes a memory too, but not that."""
        return self.created if self.superseded_by else self.updated or self.created


class Written(NamedTuple):
    """What a write gave: how it ended, and what became of which memory."""

    finish: FactsFinish
    changes: tuple[FactChange, ...] = ()
    detail: str = ""


def facts_in(answer: object) -> list[Fact]:
    """The memories in the answer to a search or a listing, in its order.

    Raises:
        StorageError: the answer is no list of memories in any form, or says that something failed.
    """
    items = list(_items(answer))
    facts = [fact for item in items if (fact := _fact(item)).text]
    if not facts and (unreadable := _unreadable(items)):
        raise StorageError(unreadable)
    return facts


def worth_telling(facts: Sequence[Fact]) -> Sequence[Fact]:
    """What was found, if any of it has to do with what was searched.

    Which of them exactly has, models tell too badly: leaving out the one that was needed costs more than one too many.
    """
    return facts if any(fact.is_related for fact in facts) else ()


def written_in(answer: object) -> Written:
    """What the answer to a write says.

    Raises:
        StorageError: it says that something failed.
    """
    if answer is None:
        return Written("unknown", detail="mem0 answered with nothing, so it may or may not have been stored")
    pending = answer[0] if isinstance(answer, list) and answer else answer
    if isinstance(pending, Mapping) and "event_id" in pending and not _has_list(pending):
        return Written("accepted", detail=f"accepted as {_words(pending['event_id'])}, and worked on later")
    if isinstance(answer, Mapping) and not _has_list(answer) and not _error(answer):
        return Written("unknown", detail=f"mem0 said: {first_line(_words(answer.get('message')) or str(answer))}")
    items = list(_items(answer))
    changes = tuple(change for item in items if (change := _change(item)))
    if not changes and (unreadable := _unreadable(items)):
        return Written("unknown", detail=unreadable)
    return Written("stored" if changes else "nothing", changes)


def moment(value: object) -> float | None:
    """A time in any form that mem0 and its platform give, in seconds since the epoch; without a zone it is UTC.

    None for what is no time that a calendar knows.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 <= value < _LAST_MOMENT else None
    if not isinstance(value, str) or not value:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp())


def _has_list(answer: Mapping[str, Any]) -> bool:
    return _list_name(answer) is not None


def _list_name(answer: Mapping[str, Any]) -> str | None:
    """The field that holds a list of memories: the first that is filled, or else the first that is there."""
    named = [name for name in _LISTS if name in answer]
    named += [name for name in _TEXTS if isinstance(answer.get(name), list | tuple)]
    return next((name for name in named if answer[name] is not None), named[0] if named else None)


def _error(answer: Mapping[str, Any]) -> str:
    return first_line(_words(answer.get("error") or answer.get("detail")))


def _items(answer: object) -> Iterator[object]:
    """The items of a list, bare or in one of the fields that hold it; an empty field is an empty list."""
    answer = _as_mapping(answer)
    if isinstance(answer, Mapping):
        if error := _error(answer):
            raise StorageError(f"mem0 says: {error}")
        if (name := _list_name(answer)) is not None:
            yield from _items([] if answer[name] in (None, {}) else answer[name])
            return
        if any(name in answer for name in _TEXTS):
            yield answer
            return
    elif isinstance(answer, list | tuple):
        yield from map(_as_mapping, answer)
        return
    raise StorageError(f"mem0 answered with something that is no list of memories: {first_line(repr(answer), 80)}")


def _as_mapping(value: object) -> object:
    """A value, or what it holds where it is an object of pydantic's."""
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) else value


def _unreadable(items: Sequence[object]) -> str:
    """What to say of items of which not one says anything; empty where they are merely blank, or there are none.

    Raises:
        StorageError: one of them says that something failed.
    """
    for item in items:
        if isinstance(item, Mapping):
            if error := _error(item):
                raise StorageError(f"mem0 says: {error}")
            is_blank = any(name in item for name in (*_TEXTS, "event"))
        else:
            is_blank = item is None or isinstance(item, str)
        if not is_blank:
            return f"mem0 answered with memories that cannot be read: {first_line(repr(item), 80)}"
    return ""


def _fact(item: object) -> Fact:
    if not isinstance(item, Mapping):
        return Fact(id="", text=well_formed(item).strip() if isinstance(item, str) else "")
    extra = {str(key): value for key, value in item.items() if key not in _KNOWN and value is not None}
    metadata = item.get("metadata")
    if isinstance(metadata, Mapping):
        extra.update(metadata)
    match = extra.pop("match", None)
    match = match if isinstance(match, Mapping) else {}
    return Fact(
        id=_words(item.get("id")),
        text=_text(item),
        created=moment(item.get("created_at")),
        updated=moment(item.get("updated_at")),
        score=_score(item.get("score")),
        user=_words(item.get("user_id")),
        agent=_words(extra.pop("agent_id", None)),
        superseded_by=_words(extra.pop(SUPERSEDED_BY, None)),
        superseded=moment(extra.pop(SUPERSEDED_AT, None)),
        why=_words(match.get("why")),
        is_related=bool(match.get("is_related", True)),
        extra=extra,
    )


def _score(value: object) -> float | None:
    """A number that others can be compared with."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < _LARGEST_SCORE else None  # type: ignore[arg-type]


def _words(value: object) -> str:
    return well_formed(str(value)) if value else ""


def _text(item: Mapping[str, Any]) -> str:
    for name in _TEXTS:
        value = item.get(name)
        if isinstance(value, Mapping):
            value = _text(value)
        if isinstance(value, str) and value.strip():
            return well_formed(value).strip()
    return ""


def _change(item: object) -> FactChange | None:
    if isinstance(item, str):
        return FactChange("", well_formed(item), "added") if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    event = str(item.get("event") or "ADD").upper()
    text, memory_id = _text(item), _words(item.get("id"))
    if event == "NONE" or not (text or memory_id):
        return None
    action = _ACTIONS.get(event, "updated")
    return FactChange(memory_id, text, action)  # type: ignore[arg-type]
