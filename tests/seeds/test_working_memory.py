"""The chapter on working memory: its example program, and what it says of marks, runs here as it is printed there."""

from __future__ import annotations

import pytest

from agent_core.message import Msg
from memory import InMemoryMemory

EXPECTED = """\
总消息数: 4

全部消息 (4 条):
  [user] 你好，今天天气怎么样？
  [assistant] 今天北京晴，25度。
  [user] 帮我规划一个户外活动。
  [assistant] 建议去公园野餐。

planning 消息 (2 条):
  [user] 帮我规划一个户外活动。
  [assistant] 建议去公园野餐。

排除 suggestion 后 (3 条):
  [user] 你好，今天天气怎么样？
  [assistant] 今天北京晴，25度。
  [user] 帮我规划一个户外活动。

带摘要的消息列表 (第1条是摘要):
  [user] 用户询问了天气并请求活动规划。

删除了 2 条 planning 消息
剩余: 2 条
"""


async def main() -> None:
    memory = InMemoryMemory()

    m1 = Msg(name="user", content="你好，今天天气怎么样？", role="user")
    m2 = Msg(name="assistant", content="今天北京晴，25度。", role="assistant")
    m3 = Msg(name="user", content="帮我规划一个户外活动。", role="user")
    m4 = Msg(name="assistant", content="建议去公园野餐。", role="assistant")

    await memory.add(m1)
    await memory.add(m2, marks="weather")
    await memory.add(m3, marks="planning")
    await memory.add(m4, marks=["planning", "suggestion"])

    print(f"总消息数: {await memory.size()}")

    all_msgs = await memory.get_memory(prepend_summary=False)
    print(f"\n全部消息 ({len(all_msgs)} 条):")
    for msg in all_msgs:
        print(f"  [{msg.name}] {msg.content}")

    planning = await memory.get_memory(mark="planning", prepend_summary=False)
    print(f"\nplanning 消息 ({len(planning)} 条):")
    for msg in planning:
        print(f"  [{msg.name}] {msg.content}")

    no_suggestion = await memory.get_memory(exclude_mark="suggestion", prepend_summary=False)
    print(f"\n排除 suggestion 后 ({len(no_suggestion)} 条):")
    for msg in no_suggestion:
        print(f"  [{msg.name}] {msg.content}")

    await memory.update_compressed_summary("用户询问了天气并请求活动规划。")
    with_summary = await memory.get_memory(prepend_summary=True)
    print("\n带摘要的消息列表 (第1条是摘要):")
    print(f"  [{with_summary[0].name}] {with_summary[0].content}")

    deleted = await memory.delete_by_mark("planning")
    print(f"\n删除了 {deleted} 条 planning 消息")
    print(f"剩余: {await memory.size()} 条")


async def test_the_program_prints_what_the_chapter_says(capsys: pytest.CaptureFixture[str]) -> None:
    await main()
    assert capsys.readouterr().out == EXPECTED


async def test_the_three_ways_of_looking_inside_print_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    memory = InMemoryMemory()
    first = Msg(name="user", content="你好", role="user")
    second = Msg(name="user", content="规划", role="user")
    await memory.add(first)
    await memory.add(second, marks="planning")

    for i, (msg, marks) in enumerate(memory.content):
        print(f"[{i}] msg.id={msg.id}, marks={marks}, content={msg.content[:50]}")

    all_msgs = await memory.get_memory(mark=None, prepend_summary=False)
    print(f"Total: {len(all_msgs)}")

    filtered = await memory.get_memory(mark="planning", prepend_summary=False)
    print(f"Filtered: {len(filtered)}")

    print(f"Summary: '{memory._compressed_summary}'")

    assert capsys.readouterr().out == (
        f"[0] msg.id={first.id}, marks=[], content=你好\n"
        f"[1] msg.id={second.id}, marks=['planning'], content=规划\n"
        "Total: 2\n"
        "Filtered: 1\n"
        "Summary: ''\n"
    )


async def test_what_the_chapter_asks_the_reader_a_mark_both_wanted_and_excluded_gives_nothing() -> None:
    memory = InMemoryMemory()
    await memory.add(Msg(name="user", content="规划", role="user"), marks=["planning", "draft"])
    assert await memory.get_memory(mark="planning", exclude_mark="planning") == []
    assert await memory.get_memory(mark="planning", exclude_mark="draft") == []
    assert len(await memory.get_memory(mark="planning", exclude_mark="other")) == 1


async def test_the_shapes_that_add_takes() -> None:
    memory = InMemoryMemory()
    await memory.add(None)
    message = Msg(name="user", content="你好", role="user")
    await memory.add(message)
    await memory.add([message], marks=None)
    assert memory.content == [(message, [])]
