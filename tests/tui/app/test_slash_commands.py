"""The slash commands, each doing what the table says."""

from __future__ import annotations

from pathlib import Path

from agent_core.marks import MemoryFilter
from agent_core.message import UserMsg
from agent_core.model.scripted_model import ScriptedChatModel
from agent_core.permission import PermissionMode
from tests.tui.app.harness import SmallRuntime, driving
from tests.tui.fed_model import FedModel, Finished
from tui.screens.help import HelpScreen


async def test_sticky_marks_are_shown_and_set_on_what_is_said(tmp_path: Path) -> None:
    async with driving(SmallRuntime("One.", "Two.", folder=tmp_path)) as driver:
        await driver.say('/mark planning "a,b"')
        await driver.see('marks what you say: [planning] ["a,b"]')
        await driver.say("hi")
        await driver.see('[planning] ["a,b"]', "One.")
        await driver.rest()
        await driver.say("/mark off")
        await driver.rest()
        assert "marks what you say" not in driver.screen
        await driver.say("again")
        await driver.see("Two.")
        marks = [marks for msg, marks in await driver.agent.memory.entries() if msg.role == "user"]
        assert marks == [("planning", "a,b"), ()]


async def test_a_mark_that_cannot_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say('/mark "open')
        await driver.told("/mark: position 1: this quote is not closed")


async def test_a_filter_governs_what_is_sent(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=tmp_path)) as driver:
        await driver.agent.observe(UserMsg("user", "secret"), marks="draft")
        await driver.say("/filter !draft")
        await driver.told("The model sees: !draft.")
        assert driver.agent.memory_filter == MemoryFilter(exclude_mark="draft")
        await driver.say("hi")
        await driver.until(model.asked.is_set)
        assert [msg.get_text_content() for msg in model.requests[0]] == ["You help.", "hi"]
        model.feed("Yes.", Finished("stop"))
        await driver.rest()
        await driver.say("/filter off")
        await driver.rest()
        assert driver.agent.memory_filter == MemoryFilter()


async def test_the_summary_can_be_switched_off(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say("/summary off")
        await driver.told("The summary is off")
        assert not driver.agent.memory_filter.prepend_summary
        await driver.say("/summary maybe")
        await driver.told("/summary takes on or off, not maybe.")


async def test_the_mode_is_changed_and_shown(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say("/mode explore")
        await driver.told("Mode explore: nothing may be changed.")
        await driver.see("· mode explore")
        assert driver.agent.state.permission_context.mode is PermissionMode.EXPLORE
        await driver.say("/mode wild")
        await driver.told("There is no mode wild; there are default, accept_edits,")


async def test_another_model_answers_from_the_next_message_on(tmp_path: Path) -> None:
    async with driving(SmallRuntime("First.", folder=tmp_path)) as driver:
        await driver.say("/model other http://localhost:9/v1")
        await driver.told("The model is other at http://localhost:9/v1")
        await driver.say("hi")
        await driver.see("Another model speaks.", "ready · other · http://localhost:9/v1")


async def test_an_address_that_is_none_changes_nothing(tmp_path: Path) -> None:
    async with driving(SmallRuntime("First.", folder=tmp_path)) as driver:
        before = driver.agent.model
        await driver.say("/model other localhost:11434/v1")
        await driver.told("The base URL must start with http:// or https://, not localhost:11434/v1.")
        assert driver.agent.model is before


async def test_a_new_session_is_empty_and_works(tmp_path: Path) -> None:
    async with driving(SmallRuntime("First.", "Second.", folder=tmp_path)) as driver:
        await driver.say("one")
        await driver.see("First.")
        await driver.rest()
        before = driver.agent
        await driver.say("/new")
        await driver.until(lambda: driver.agent is not before)
        screen = await driver.see("Type a message")
        assert "First." not in screen
        await driver.say("two")
        await driver.see("❯ two", "Second.")
        assert len(await driver.messages()) == 2


async def test_the_last_answer_is_copied_as_it_was_written(tmp_path: Path) -> None:
    async with driving(SmallRuntime("Hello **there**.", folder=tmp_path)) as driver:
        await driver.say("/copy")
        await driver.told("There is no answer to copy yet.")
        await driver.say("hi")
        await driver.rest()
        await driver.say("/copy")
        await driver.told("16 characters are sent to the clipboard")
        assert driver.app.clipboard == "Hello **there**."


async def test_compacting_summarises_the_older_part(tmp_path: Path) -> None:
    model = ScriptedChatModel(["1", "2", "3"], structured=[{"task_overview": "To count."}])
    runtime = SmallRuntime(model=model, folder=tmp_path)
    async with driving(runtime) as driver:
        await driver.say("/compact")
        await driver.told("There is nothing old enough to summarise.")
        for text in ("one", "two", "three"):
            await driver.say(text)
            await driver.rest()
        await driver.say("/compact keep all")
        await driver.see("older messages are summarised in")
        assert "keep all" in str(model.requests[-1].messages)


async def test_nothing_is_compacted_beside_a_reply(tmp_path: Path) -> None:
    model = FedModel()
    async with driving(SmallRuntime(model=model, folder=tmp_path)) as driver:
        await driver.say("hi")
        await driver.see("waiting for fed")
        await driver.say("/compact")
        await driver.told("A reply is running; /compact again when it has ended")


async def test_an_unknown_command_is_told_with_its_neighbours_and_not_lost(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say("/fliter a")
        await driver.told("There is no command /fliter. Did you mean /filter?")
        assert driver.prompt.text == "/fliter a"
        assert not await driver.messages()


async def test_two_slashes_send_one(tmp_path: Path) -> None:
    async with driving(SmallRuntime("ok", folder=tmp_path)) as driver:
        await driver.say("//etc is a folder")
        await driver.see("❯ /etc is a folder", "ok")


async def test_commands_are_offered_while_typing(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.press("slash", "m", "o")
        await driver.see("❯ /model [NAME [BASE_URL]]", "  /mode [MODE]")
        await driver.press("down", "tab")
        assert driver.prompt.text == "/mode "
        await driver.see("❯ default", "  accept_edits")
        await driver.press("e", "x", "tab", "enter")
        await driver.told("Mode explore")


async def test_enter_takes_what_is_chosen(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.press("slash", "m", "a", "enter")
        assert driver.prompt.text == "/mark "
        await driver.press("ctrl+u", "slash", "h", "e", "enter")
        await driver.until(lambda: isinstance(driver.app.screen, HelpScreen))


async def test_escape_closes_the_offers_and_keeps_the_text(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.press("slash", "m")
        await driver.see("/model [NAME")
        await driver.press("escape")
        await driver.pause()
        assert "/model [NAME" not in driver.screen
        assert driver.prompt.text == "/m"


async def test_marks_that_are_there_are_offered(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.agent.observe("x", marks=["planning", "a b"])
        await driver.press(*"/filter", "space")
        await driver.see('❯ "a b"', "  planning", '  !"a b"', "  off")


async def test_help_lists_every_command_and_every_pane(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path), (120, 240)) as driver:
        await driver.press("f1")
        await driver.see("ctrl+j, shift+enter, alt+enter", "/filter [NAME… !NAME… | off]", "Hints pane")
        await driver.press("escape")
        await driver.pause()
        assert not isinstance(driver.app.screen, HelpScreen)


async def test_the_palette_finds_commands_by_what_they_do(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path), (120, 40)) as driver:
        await driver.press("ctrl+p")
        await driver.see("retry (ctrl+r, /retry)")
        await driver.press(*"summarise")
        await driver.see("compact (/compact)")
        await driver.press("enter")
        await driver.until(lambda: driver.prompt.text == "/compact ")


async def test_a_theme_is_set_or_its_neighbours_are_told(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say("/theme nord")
        await driver.until(lambda: driver.app.theme == "nord")
        await driver.say("/theme nrod")
        await driver.told("There is no theme nrod. nord? /theme lists all.")
        await driver.say("/theme xyz")
        await driver.told("There is no theme xyz. /theme lists all.")


async def test_quit_leaves_with_zero(tmp_path: Path) -> None:
    async with driving(SmallRuntime(folder=tmp_path)) as driver:
        await driver.say("/quit")
        await driver.until(lambda: not driver.app.is_running)
        assert driver.app.return_code == 0
