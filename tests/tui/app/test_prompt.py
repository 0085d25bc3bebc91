"""Typing and pasting."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from textual.events import Key

from tests.tui.app.harness import SmallRuntime, driving

MEGABYTE = 1_000_000


async def test_the_cursor_stands_on_the_right_cell_of_wide_text(tmp_path: Path) -> None:
    """T11."""
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.press(*"日本語abc")
        await driver.pause()
        start = driver.prompt.cursor_screen_offset.x
        columns = []
        for _ in range(6):
            await driver.press("left")
            columns.append(driver.prompt.cursor_screen_offset.x - start)
        assert columns == [-1, -2, -3, -5, -7, -9]
        await driver.press("end")
        assert driver.prompt.cursor_screen_offset.x == start
        await driver.press("home")
        assert driver.prompt.cursor_screen_offset.x == start - 9
        await driver.press("right", "x")
        await driver.pause()
        assert driver.prompt.text == "日x本語abc"


async def test_a_selection_of_wide_text_is_what_was_dragged_over(tmp_path: Path) -> None:
    """T12."""
    async with driving(SmallRuntime("一二三四", folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("一二三四")
        await driver.rest()
        lines = driver.screen.splitlines()
        row = next(number for number, line in enumerate(lines) if "一二三四" in line)
        left = lines[row].index("一")
        await driver.pilot.mouse_down(offset=(left + 2, row))
        await driver.pilot.hover(offset=(left + 5, row))
        await driver.pilot.mouse_up(offset=(left + 5, row))
        assert driver.app.screen.get_selected_text() == "二三"
        await driver.press("ctrl+c")
        assert driver.app.clipboard == "二三"


async def test_twenty_thousand_plain_keys_are_taken_in_soon(tmp_path: Path) -> None:
    """T15: a paste without its envelope."""
    text = "".join(random.Random(1).choices("日本語漢字abcdefg .,", k=20_000))
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        for character in text:
            driver.app.post_message(Key("space" if character == " " else character, character))
        async with asyncio.timeout(60):
            while driver.prompt.text != text:
                await asyncio.sleep(0.01)
        await driver.press("!")
        await driver.until(lambda: driver.prompt.text == f"{text}!")


async def test_a_megabyte_is_pasted_once_and_sent_whole(tmp_path: Path) -> None:
    """T17."""
    text = "".join(f"line {number}\n" for number in range(100))
    text += "x" * (MEGABYTE - len(text))
    async with driving(SmallRuntime("Long.", folder=tmp_path)) as driver:
        await driver.paste(text)
        await driver.until(lambda: driver.prompt.text == text)
        await driver.see("101 lines, 1,000,000 characters")
        assert not await driver.messages()
        await driver.press("enter")
        await driver.see("… 101 lines, 1,000,000 characters in all; only the beginning is shown", "Long.")
        assert not driver.prompt.border_subtitle
        await driver.press("up")
        assert driver.prompt.border_subtitle == "101 lines, 1,000,000 characters"
        assert (await driver.messages())[0].get_text_content() == text


async def test_pasted_newlines_do_not_send(tmp_path: Path) -> None:
    """T17."""
    text = "\n".join(f"{number}" for number in range(100))
    async with driving(SmallRuntime("ok", folder=tmp_path)) as driver:
        await driver.paste(text.replace("\n", "\r\n"))
        await driver.until(lambda: driver.prompt.text == text)
        assert not await driver.messages()


async def test_keys_and_pastes_keep_their_order(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        driver.app.post_message(Key("a", "a"))
        await driver.paste("b")
        driver.app.post_message(Key("c", "c"))
        await driver.paste("d")
        await driver.until(lambda: driver.prompt.text == "abcd")


async def test_what_is_typed_right_after_enter_is_the_next_message(tmp_path: Path) -> None:
    async with driving(SmallRuntime("1", "2", folder=tmp_path)) as driver:
        for key in ("a", "enter", "b", "ctrl+j", "x", "backspace", "c", "enter"):
            driver.app.post_message(Key(key, key if len(key) == 1 else None))
        await driver.see("❯ b", "2")
        said = [msg.get_text_content() for msg in await driver.messages() if msg.role == "user"]
        assert said == ["a", "b\nc"]


async def test_a_lone_surrogate_is_replaced_and_saved(tmp_path: Path) -> None:
    """T20."""
    runtime = SmallRuntime("ok", folder=tmp_path)
    async with driving(runtime) as driver:
        await driver.paste("hi \ud83d")
        await driver.press("enter")
        await driver.see("❯ hi \ufffd", "ok")
        assert (await driver.messages())[0].get_text_content() == "hi \ufffd"
    assert runtime.history_path is not None
    assert runtime.history_path.read_text() == '"hi \ufffd"\n'


async def test_what_is_pasted_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    """T06."""
    async with driving(SmallRuntime("ok", folder=tmp_path)) as driver:
        await driver.paste("a\x1b]52;c;aGk=\x07b\x9b")
        assert driver.prompt.text == "a␛]52;c;aGk=␇b\\x9b"


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_a_newline_key_makes_a_newline_and_does_not_send(tmp_path: Path, key: str) -> None:
    """T27."""
    async with driving(SmallRuntime("ok", folder=tmp_path)) as driver:
        await driver.press("a", key, "b")
        assert driver.prompt.text == "a\nb"
        assert not await driver.messages()
        await driver.press("enter")
        await driver.see("❯ a", "  b", "ok")


async def test_the_prompt_grows_with_its_text_up_to_a_limit(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        heights = []
        for number in range(12):
            heights.append(driver.prompt.size.height)
            await driver.paste(f"{number}\n")
        assert heights == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8]


async def test_nothing_but_blanks_is_not_sent(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.press("space", "ctrl+j", "enter")
        await driver.rest()
        assert not await driver.messages()
