"""The offline model with the tools of a memory of facts: alone, and beside memory files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agent_core.errors import ToolError
from agent_core.tool import Edit, Read, ToolBase, Write
from tests.agent_core.model.offline_chat import OfflineChat


class Add(ToolBase):
    name = "add_memory"
    description = "Store."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}

    def __init__(self, error: str = "") -> None:
        self.kept: list[str] = []
        self.error = error

    async def call(self, *, thinking: str, content: Sequence[str]) -> str:
        if self.error:
            raise ToolError(self.error)
        lines = [f"{'Known already' if text in self.kept else 'Stored'}: {text}" for text in content]
        self.kept += [text for text in content if text not in self.kept]
        return "\n".join([*lines, f"Thinking: {thinking}"])


class Search(ToolBase):
    name = "search_memory"
    description = "Search."
    input_schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}

    def __init__(self, *lines: str, error: str = "") -> None:
        self.lines = lines
        self.error = error
        self.asked: list[str] = []

    async def call(self, *, keywords: Sequence[str], limit: int) -> str:
        self.asked += keywords
        if self.error:
            raise ToolError(self.error)
        return "\n".join(self.lines) or "No memory fits these keywords."


@pytest.mark.parametrize("with_files", [False, True])
async def test_what_is_to_be_remembered_is_saved_once_by_the_tool_that_asks_nobody(
    tmp_path: Path, with_files: bool
) -> None:
    add = Add()
    chat = OfflineChat(tmp_path, [add, *([Read(), Write(), Edit()] if with_files else [])])
    answer = await chat.say("Please remember that I live in Hangzhou and like short answers.")
    assert add.kept == ["I live in Hangzhou", "I like short answers"]
    assert [call.name for call in chat.calls] == ["add_memory"]
    assert answer.startswith("Saved in long-term memory:\n- I live in Hangzhou\n- I like short answers")
    assert not list(tmp_path.iterdir())
    assert "has that already" in await chat.say("remember that I live in Hangzhou")


async def test_in_chinese_too(tmp_path: Path) -> None:
    add = Add()
    assert "已存入长期记忆" in await OfflineChat(tmp_path, [add]).say("请记住：我住在杭州")
    assert add.kept == ["我住在杭州"]


async def test_what_the_tool_cannot_take_goes_into_a_file_or_is_told(tmp_path: Path) -> None:
    broken = Add("Nothing was stored: the store is locked.")
    answer = await OfflineChat(tmp_path, [broken, Read(), Write(), Edit()]).say("remember that I live in Hangzhou")
    assert "user_profile.md" in answer
    told = await OfflineChat(tmp_path, [broken]).say("remember that I live in Hangzhou")
    assert "I did not save this" in told
    assert "the store is locked" in told


async def test_a_question_is_searched_for_once_and_answered_with_what_is_found(tmp_path: Path) -> None:
    search = Search("- I live in Hangzhou (2025-06-01) [score 0.91]", "- I am a nurse (2025-06-02) [score 0.40]")
    chat = OfflineChat(tmp_path, [search])
    answer = await chat.say("Where do I live?")
    assert search.asked == ["Where do I live?"]
    assert "“I live in Hangzhou” (long-term memory, saved 2025-06-01)" in answer
    assert "score" not in answer


async def test_what_is_found_by_its_meaning_is_quoted_though_no_word_is_shared(tmp_path: Path) -> None:
    chat = OfflineChat(tmp_path, [Search("- Peanuts make Ana ill (2025-06-01) [score 0.91]")])
    assert "Peanuts make Ana ill" in await chat.say("What should the cake be without?")


async def test_nothing_found_and_a_search_that_failed_look_different(tmp_path: Path) -> None:
    nothing = await OfflineChat(tmp_path, [Search()]).say("Where do I live?")
    failed = await OfflineChat(tmp_path, [Search(error="the store is locked")]).say("Where do I live?")
    assert "I find nothing" in nothing
    assert "could not be searched" not in nothing
    assert "could not be searched: the store is locked" in failed
