"""Memories of a user's own, as one may write them."""

from __future__ import annotations

from memory import MemoryBase


class FiveMethods(MemoryBase):
    """Only what must be there: no marks, and nothing is published."""

    def __init__(self):
        super().__init__()
        self.messages = []

    async def add(self, memories, marks=None, **kwargs):
        for msg in [memories] if not isinstance(memories, list | tuple) else memories:
            self.messages.append(msg)

    async def delete(self, msg_ids, **kwargs):
        before = len(self.messages)
        self.messages = [msg for msg in self.messages if msg.id not in msg_ids]
        return before - len(self.messages)

    async def size(self):
        return len(self.messages)

    async def clear(self):
        self.messages = []

    async def get_memory(self, mark=None, exclude_mark=None, prepend_summary=True, **kwargs):
        return list(self.messages)


class Failing(FiveMethods):
    """Its store is gone."""

    async def delete(self, msg_ids, **kwargs):
        raise OSError("no [/x] store\nsecond line")
