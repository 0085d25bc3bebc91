"""A conversation with the offline model over real tools and real files, without an agent around it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from agent_core.errors import ToolError
from agent_core.message import (
    AssistantMsg,
    ContentBlock,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agent_core.model import Finished, OfflineChatModel, TextDelta, ToolCallDelta
from agent_core.tool import CallContext, Edit, Read, ReadRecord, ToolBase, Write, serving

DAY = 1_750_000_000.0
"""When everything is said: on 2025-06-15 in every time zone."""
DATE = "2025-06-15"
SYSTEM = """You are a helpful assistant.

Memory folder: {folder}
Index file: {folder}/MEMORY.md

An index has lines like this:
- [Title](example.md) — hook

## Index of the memory (MEMORY.md)
{index}"""


class OfflineChat:
    """Says things to the model and runs the calls that it makes, until it answers.

    Args:
        folder: the memory folder.
        tools: what the model may call; Read, Write and Edit by default.
        denied: names of tools, of files, or of both, for which a person refuses every call; may be changed.
    """

    def __init__(self, folder: Path, tools: Iterable[ToolBase] | None = None, denied: Iterable[str] = ()) -> None:
        self.folder = folder
        self.messages: list[Msg] = []
        self.calls: list[ToolCallBlock] = []
        self._tools = {tool.name: tool for tool in ((Read(), Write(), Edit()) if tools is None else tools)}
        self.denied = set(denied)
        self._reads = ReadRecord()
        self._model = OfflineChatModel()

    async def say(self, text: str, hints: Iterable[HintBlock] = ()) -> str:
        """The answer to `text`; the calls made for it are in `calls`."""
        self.messages.append(UserMsg("user", text, created_at=DAY))
        self.messages += [AssistantMsg("memory", [hint]) for hint in hints]
        self.calls = []
        for _ in range(12):
            blocks = await self._answer()
            self.messages.append(AssistantMsg("assistant", blocks, created_at=DAY))
            calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
            if not calls:
                return self.messages[-1].get_text_content() or ""
            self.calls += calls
            self.messages += [SystemMsg(call.name, [await self._run(call)], created_at=DAY) for call in calls]
        raise AssertionError(f"the model goes on for ever: {self.calls}")

    def made(self) -> list[tuple[str, str]]:
        """The calls made for the last answer: tool, file."""
        return [(call.name, Path(json.loads(call.input)["file_path"]).name) for call in self.calls]

    def read(self, name: str) -> str:
        """The text of a memory file."""
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")

    def files(self) -> list[str]:
        """The names of all memory files."""
        return sorted(path.name for path in self.folder.iterdir()) if self.folder.exists() else []

    def _system(self) -> Msg:
        index = self.read("MEMORY.md") if (self.folder / "MEMORY.md").exists() else "(no memories yet)"
        return SystemMsg("system", SYSTEM.format(folder=self.folder, index=index), created_at=0.0)

    async def _answer(self) -> list[ContentBlock]:
        text, arguments, names = "", {}, {}
        schemas = [tool.schema for tool in self._tools.values()]
        ends = 0
        async for delta in self._model.stream([self._system(), *self.messages], schemas):
            match delta:
                case TextDelta(piece):
                    text += piece
                case ToolCallDelta(call_id, name, piece):
                    names.setdefault(call_id, name)
                    arguments[call_id] = arguments.get(call_id, "") + piece
                case Finished(_, usage):
                    ends += 1
                    assert usage is not None
        assert ends == 1
        calls = [ToolCallBlock(call_id, name, arguments[call_id]) for call_id, name in names.items()]
        return [*([TextBlock(text)] if text else []), *calls]

    async def _run(self, call: ToolCallBlock) -> ToolResultBlock:
        arguments = json.loads(call.input)
        state: ToolResultState = "success"
        file = Path(arguments.get("file_path", "")).name
        if self.denied & {call.name, file, f"{call.name} {file}"}:
            output, state = "The user refused this call. Do not repeat it.", "denied"
        else:
            try:
                with serving(CallContext(self._reads)):
                    output = str(await self._tools[call.name].call(**arguments))
            except ToolError as error:
                output, state = str(error), "error"
        return ToolResultBlock(call.id, call.name, output, state)
