"""Which of the stored messages are judged together, and which of these clusters are judged alike.

A verdict depends on a message's marks, on whether it belongs to the running reply, and on the messages that it is
linked to: a result on its call, a message on a newer one that replaces it. What is linked is a cluster; most messages
are one by themselves. Clusters of the same kind are judged alike, and few kinds occur however many messages there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agent_core.history import REPLACES
from agent_core.marks import Entry
from agent_core.message import Msg, ToolCallBlock, ToolResultBlock
from agent_core.tokens import estimate_message_tokens

Role = Literal["call", "result", "replaces"]


class Tie(NamedTuple):
    """What links a message to all others that name the same."""

    role: Role
    name: str


class Trait(NamedTuple):
    """All that the verdict on one message of a cluster depends on; ties are numbered within the cluster."""

    marks: tuple[str, ...]
    is_running: bool
    ties: tuple[tuple[Role, int], ...]


@dataclass(eq=False)
class Kind:
    """The clusters whose messages have the same traits, in the same order.

    Attributes:
        traits: one for each message of such a cluster.
        sample: the messages of one of them.
        count: how many clusters there are.
        tokens: for each place in the cluster, what the messages there cost together.
    """

    traits: tuple[Trait, ...]
    sample: tuple[Entry, ...]
    count: int
    tokens: list[int]


class _Member(NamedTuple):
    rank: int
    entry: Entry
    ties: tuple[Tie, ...]


class _Cluster(NamedTuple):
    keys: tuple[int, ...]
    kind: Kind


class Clusters:
    """An index over messages, each known by a key. A change costs what it is about, and not what there is.

    Args:
        running: ids of the messages of the running reply.
    """

    def __init__(self, running: frozenset[str] = frozenset()) -> None:
        self.running = running
        self._kinds: dict[tuple[Trait, ...], Kind] = {}
        self._members: dict[int, _Member] = {}
        self._clusters: dict[int, _Cluster] = {}
        self._keys_by_id: dict[str, set[int]] = {}
        self._keys_by_tie: dict[str, set[int]] = {}
        self._next_rank = 0

    @property
    def kinds(self) -> Collection[Kind]:
        """All kinds that there are."""
        return self._kinds.values()

    @property
    def ids(self) -> Set[str]:
        """The ids of all messages."""
        return self._keys_by_id.keys()

    def kind_of(self, key: int) -> tuple[Kind, int]:
        """The kind of the cluster that a message is in, and the message's place there."""
        keys, kind = self._clusters[key]
        return kind, keys.index(key)

    def run(self, msg_ids: frozenset[str]) -> None:
        """Take the messages with these ids, those to come too, for those of the running reply."""
        before, self.running = self.running, msg_ids
        keys = [key for id_ in before ^ msg_ids for key in self._keys_by_id.get(id_, ())]
        self._form_all({other for key in keys for other in self._dissolve(key)})

    def update(self, gone: Collection[int], there: Mapping[int, Entry]) -> None:
        """Take in that messages have gone, and that others differ, or are new and come after all others."""
        loose = {other for key in (*gone, *there) for other in self._dissolve(key)}
        for key in gone:
            self._forget(key)
        for key, entry in there.items():
            self._remember(key, entry)
        self._form_all((loose | there.keys()).difference(gone))

    def _remember(self, key: int, entry: Entry) -> None:
        known = self._members.get(key)
        if known is not None:
            self._members[key] = known._replace(entry=entry)
            return
        member = self._members[key] = _Member(self._next_rank, entry, tuple(_ties(entry.msg)))
        self._next_rank += 1
        self._keys_by_id.setdefault(entry.msg.id, set()).add(key)
        for name in _names(member.ties):
            self._keys_by_tie.setdefault(name, set()).add(key)

    def _forget(self, key: int) -> None:
        member = self._members.pop(key)
        _discard(self._keys_by_id, member.entry.msg.id, key)
        for name in _names(member.ties):
            _discard(self._keys_by_tie, name, key)

    def _form_all(self, loose: set[int]) -> None:
        """Put messages that are in no cluster into clusters, with those that they are linked to."""
        while loose:
            keys = self._linked(loose.pop())
            for key in keys:
                self._dissolve(key)
            self._form(keys)
            loose.difference_update(keys)

    def _linked(self, key: int) -> tuple[int, ...]:
        """The messages that this one is linked to, directly or not, and itself, in order."""
        if not self._members[key].ties:
            return (key,)
        found, seen, waiting = {key}, set[str](), [key]
        while waiting:
            names = _names(self._members[waiting.pop()].ties) - seen
            seen |= names
            news = {other for name in names for other in self._keys_by_tie[name]} - found
            found |= news
            waiting.extend(news)
        return tuple(sorted(found, key=lambda other: self._members[other].rank))

    def _form(self, keys: tuple[int, ...]) -> None:
        members = [self._members[key] for key in keys]
        traits = self._traits(members)
        kind = self._kinds.get(traits)
        if kind is None:
            sample = tuple(member.entry for member in members)
            kind = self._kinds[traits] = Kind(traits, sample, 0, [0] * len(keys))
        _count(kind, members, 1)
        self._clusters.update(dict.fromkeys(keys, _Cluster(keys, kind)))

    def _dissolve(self, key: int) -> tuple[int, ...]:
        """Do without the cluster of a message; the messages that were in it."""
        if key not in self._clusters:
            return ()
        keys, kind = self._clusters[key]
        _count(kind, [self._members[other] for other in keys], -1)
        if not kind.count:
            del self._kinds[kind.traits]
        for other in keys:
            del self._clusters[other]
        return keys

    def _traits(self, members: Iterable[_Member]) -> tuple[Trait, ...]:
        numbers: dict[str, int] = {}
        return tuple(
            Trait(
                entry.marks,
                entry.msg.id in self.running,
                tuple((role, numbers.setdefault(name, len(numbers))) for role, name in ties),
            )
            for _, entry, ties in members
        )


def _count(kind: Kind, members: Iterable[_Member], sign: int) -> None:
    kind.count += sign
    for place, member in enumerate(members):
        kind.tokens[place] += sign * estimate_message_tokens(member.entry.msg)


def _discard(keys: dict[str, set[int]], name: str, key: int) -> None:
    keys[name].discard(key)
    if not keys[name]:
        del keys[name]


def _ties(msg: Msg) -> Iterator[Tie]:
    if not msg.is_plain:
        for block in msg.blocks:
            if isinstance(block, ToolCallBlock):
                yield Tie("call", f"call {block.id}")
            elif isinstance(block, ToolResultBlock):
                yield Tie("result", f"call {block.id}")
    key = msg.get_metadata(REPLACES)
    if isinstance(key, str):
        yield Tie("replaces", f"replaces {key}")


def _names(ties: Iterable[Tie]) -> set[str]:
    return {name for _, name in ties}
