import asyncio
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widgets import TabbedContent, TabPane

from agent_core.agent import Agent
from agent_core.event import FileChanged
from memory import AgenticMemoryMiddleware
from tests.tui.panes.harness import driving, index_pane
from tests.tui.views.events import agent_with
from tui.panes.index import IndexPane
from tui.screens.reading import ReadingScreen
from tui.views.index import IndexView
from tui.views.index_look import FolderLook


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(IndexPane, "PACE", 0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Memory"
    folder.mkdir()
    (folder / "home.md").write_text("---\nname: home\ndescription: Lives in [/x]\ntype: user\n---\nIn Hangzhou.\n")
    (folder / "MEMORY.md").write_text("- [Home](home.md) — lives in Hangzhou\n")
    return folder


def agent_in(folder: Path, *script: str, **parameters) -> Agent:
    parameters = AgenticMemoryMiddleware.Parameters(**parameters)
    memory = AgenticMemoryMiddleware(folder.parent, parameters=parameters)
    return agent_with(*script, middlewares=[memory])


async def test_before_the_first_reply_the_files_are_there_and_the_index_is_not_injected_yet(folder):
    async with driving(agent_in(folder), index_pane) as driver:
        await driver.until(lambda: driver.lines)
        assert "MEMORY.md: not read yet" in driver.text(".pane-head")
        assert "1 memory file" in driver.text(".pane-head")
        assert driver.lines[0].split() == ["›", "✓", "user", "now", "home.md", "outside", "Lives", "in", "[/x]"]
        assert str(folder / "home.md") in driver.text(".pane-foot")


async def test_what_was_injected_is_shown_with_lines_and_tokens(folder):
    agent = agent_in(folder, "hello")
    async with driving(agent, index_pane) as driver:
        await agent.preview_prompt()
        await driver.settle()
        assert "MEMORY.md: loaded all 1 line, ≈10 tokens" in driver.text(".pane-head")
        assert "- [Home](home.md) — lives in Hangzhou" in driver.screen


async def test_the_line_of_the_cut_is_told(folder):
    (folder / "MEMORY.md").write_text("".join(f"- [T{n}](t.md) — {'x' * 30}\n" for n in range(52)))
    agent = agent_in(folder, memory_max_tokens=200)
    async with driving(agent, index_pane, (100, 40)) as driver:
        await agent.preview_prompt()
        await driver.until(lambda: driver.lines)
        read = driver.app.views.index.read
        assert read is not None
        assert f"loaded {read.injected_lines} of 52 lines" in driver.text(".pane-head")
        assert f"cut at line {read.injected_lines + 1}" in driver.text(".pane-head")
        assert "line 1: t.md: no such memory" in driver.text(".pane-head")
        assert "more that are wrong" in driver.text(".pane-head")
        await driver.press("i")
        assert "line 3: t.md: no such memory" in driver.screen


async def test_without_an_index_it_says_where_there_is_none(tmp_path):
    agent = agent_in(tmp_path / "Memory")
    async with driving(agent, index_pane) as driver:
        await agent.preview_prompt()
        await driver.settle()
        assert f"none at {tmp_path / 'Memory' / 'MEMORY.md'}" in driver.text(".pane-head").replace("\n", "")
        await driver.press("enter", "i", "down")
        assert driver.lines == []


async def test_edits_from_outside_appear_by_themselves(folder):
    agent = agent_in(folder)
    async with driving(agent, index_pane) as driver:
        await agent.preview_prompt()
        await driver.until(lambda: driver.lines)
        (folder / "中文.md").write_text("---\ndescription: 喜欢龙井 🍵\ntype: feedback\n---\n龙井")
        await driver.until(lambda: len(driver.lines) == 2)
        assert "中文.md" in driver.lines[0]
        assert "[not in the index]" in driver.lines[0]
        (folder / "MEMORY.md").write_text("- [Home](home.md)\n- [Tea](中文.md)\n")
        await driver.until(lambda: "changed since" in driver.text(".pane-head"))
        assert "[not in the index]" not in driver.lines[0]
        (folder / "home.md").unlink()
        await driver.until(lambda: len(driver.lines) == 1)
        assert "line 1: home.md: no such memory" in driver.text(".pane-head")


async def test_a_broken_file_has_a_badge_and_opens(folder):
    (folder / "broken.md").write_text("---\nname: [unclosed\n---\n[/x] \x1b[2J body")
    async with driving(agent_in(folder), index_pane, (120, 30)) as driver:
        await driver.until(lambda: len(driver.lines) == 2)
        assert "[the header is not valid YAML" in driver.lines[0]
        await driver.press("home", "enter")
        for text in ("name: [unclosed", "[/x] ␛[2J body", "broken.md", "badges"):
            assert text in driver.screen
        assert "\x1b" not in driver.screen
        await driver.press("escape")
        assert not isinstance(driver.app.screen, ReadingScreen)


async def test_a_file_that_is_gone_when_it_is_opened_is_told(folder, monkeypatch):
    monkeypatch.setattr(IndexPane, "PACE", 1e9)
    async with driving(agent_in(folder), index_pane) as driver:
        await driver.until(lambda: driver.lines)
        (folder / "home.md").unlink()
        await driver.press("enter")
        await driver.until(lambda: driver.app.told)
        assert driver.app.told == ["home.md cannot be read: No such file or directory"]


async def test_what_the_agent_writes_is_shown_at_once(folder, monkeypatch):
    """However long a pause the look before has earned."""
    monkeypatch.setattr(IndexPane, "PACE", 1e9)
    agent = agent_in(folder)
    async with driving(agent, index_pane) as driver:
        await driver.until(lambda: len(driver.lines) == 1)
        (folder / "tea.md").write_text("---\nname: tea\ndescription: likes oolong\ntype: user\n---\noolong")
        agent.trace.append(FileChanged(path=str(folder / "tea.md"), origin="model"))
        await driver.until(lambda: len(driver.lines) == 2)
        assert "tea.md" in driver.lines[0]


async def test_who_changed_a_file_is_told(folder):
    agent = agent_in(folder)
    async with driving(agent, index_pane) as driver:
        await driver.until(lambda: driver.lines)
        agent.trace.append(FileChanged(path=str(folder / "home.md"), origin="model"))
        await driver.settle()
        assert "changed by model" in driver.text(".pane-foot")


async def test_an_agent_without_a_memory_folder_says_so():
    async with driving(agent_with(), index_pane) as driver:
        await driver.press("enter", "i")
        assert "this agent has no memory folder" in driver.text(".pane-head")


class Looks(IndexView):
    """Counts the looks at the folder."""

    def __init__(self):
        super().__init__()
        self.count = 0
        self.looked = asyncio.Event()

    def take(self, look: FolderLook) -> bool:
        self.count += 1
        self.looked.set()
        return super().take(look)


class TwoTabs(App[None]):
    """The pane in a tab, and another tab."""

    def __init__(self, agent: Agent, view: IndexView) -> None:
        super().__init__()
        self.pane = IndexPane(agent, view, agent.middlewares[0])

    def compose(self) -> ComposeResult:
        with TabbedContent(initial="other"):
            yield TabPane("Other", id="other")
            with TabPane("Index", id="index"):
                yield self.pane


async def test_the_folder_is_looked_at_only_while_the_pane_is_seen(folder):
    view = Looks()
    app = TwoTabs(agent_in(folder), view)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert view.count == 0
        tabs = app.query_one(TabbedContent)
        tabs.active = "index"
        await view.looked.wait()
        tabs.active = "other"
        await pilot.pause()
        assert not [worker for worker in app.workers if worker.group == "watch" and worker.is_running]
        tabs.active = "index"
        view.looked.clear()
        await view.looked.wait()


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (40, 10), (200, 60)])
async def test_any_size_is_no_crash(folder, size):
    """T22: tiny terminals."""
    agent = agent_in(folder)
    async with driving(agent, index_pane, size) as driver:
        await agent.preview_prompt()
        await driver.press("enter", "escape", "i", "escape")
        await driver.pilot.resize_terminal(80, 24)
        await driver.until(lambda: driver.lines)
