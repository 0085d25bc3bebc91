"""The contract of working memory in its plainest form: one list, no indexes. The back ends are compared with it."""

from __future__ import annotations

from agent_core.marks import Entry
from agent_core.message import Msg


class ReferenceMemory:
    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.summary = ""

    def add(self, messages: list[Msg], marks: list[str]) -> None:
        for msg in messages:
            if any(entry.msg.id == msg.id for entry in self.entries):
                self.change([msg.id], lambda old: [*old, *marks])
            else:
                self.entries.append(Entry(msg, tuple(dict.fromkeys(marks))))

    def change(self, ids: list[str], change: object) -> int:
        count = 0
        for place, (msg, marks) in enumerate(self.entries):
            new = tuple(dict.fromkeys(change(list(marks)))) if msg.id in ids else marks  # type: ignore[operator]
            count += new != marks
            self.entries[place] = Entry(msg, new)
        return count

    def delete(self, ids: list[str]) -> int:
        return self._keep(lambda entry: entry.msg.id not in ids)

    def delete_by_mark(self, marks: list[str]) -> int:
        return self._keep(lambda entry: not set(marks) & set(entry.marks))

    def update_messages_mark(self, new: str | None, old: str | None, ids: list[str] | None) -> int:
        if new is None and old is None:
            return 0
        chosen = [
            entry.msg.id
            for entry in self.entries
            if (ids is None or entry.msg.id in ids) and (old is None or old in entry.marks)
        ]

        def change(marks: list[str]) -> list[str]:
            if old is None:
                return [*marks, str(new)]
            return [new if mark == old and new else mark for mark in marks if new or mark != old]

        return self.change(chosen, change)

    def get_memory(self, mark: list[str] | None, exclude: list[str]) -> list[Msg]:
        return [
            msg
            for msg, marks in self.entries
            if (mark is None or set(mark) & set(marks)) and not set(exclude) & set(marks)
        ]

    def clear(self) -> None:
        self.entries, self.summary = [], ""

    def _keep(self, wanted: object) -> int:
        before = len(self.entries)
        self.entries = [entry for entry in self.entries if wanted(entry)]  # type: ignore[operator]
        return before - len(self.entries)
