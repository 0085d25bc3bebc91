"""Commands about the program itself: what is seen, help, leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.commands import nearest
from tui.handlers.errors import CommandError

if TYPE_CHECKING:
    from textual.command import Provider

    from tui.screens.main import MainScreen


async def show_chat(main: MainScreen, argument: str) -> None:
    """The chat."""
    main.show_tab("chat")


async def show_content(main: MainScreen, argument: str) -> None:
    """The content pane."""
    main.show_tab("content")


async def show_filter(main: MainScreen, argument: str) -> None:
    """The filter pane."""
    main.show_tab("filter")


async def show_index(main: MainScreen, argument: str) -> None:
    """The index pane."""
    main.show_tab("index")


async def show_hints(main: MainScreen, argument: str) -> None:
    """The hints pane."""
    main.show_tab("hints")


async def show_facts(main: MainScreen, argument: str) -> None:
    """The facts pane, which is there while mem0 is used."""
    if main.runtime.facts is None:
        raise CommandError(
            "There are no facts, since mem0 is off: /mem0 both switches it on, or --mem0 both at the start."
        )
    main.show_tab("facts")


async def theme(main: MainScreen, argument: str) -> None:
    """Change the colours, or choose from a list."""
    if not argument:
        from textual.theme import ThemeProvider

        _open_palette(main, [ThemeProvider], "Search for themes…")
    elif argument in main.app.available_themes:
        main.app.theme = argument
    else:
        near = nearest(argument, main.app.available_themes)
        offer = f"{' or '.join(near)}? " if near else ""
        raise CommandError(f"There is no theme {argument}. {offer}/theme lists all.")


async def show_help(main: MainScreen, argument: str) -> None:
    """Keys and commands."""
    from tui.screens.help import HelpScreen

    if not isinstance(main.app.screen, HelpScreen):
        main.app.push_screen(HelpScreen(main.pane_helps))


async def palette(main: MainScreen, argument: str) -> None:
    """Find a command by its name."""
    _open_palette(main)


async def leave(main: MainScreen, argument: str) -> None:
    """Leave the program."""
    await main.quit()


def _open_palette(main: MainScreen, providers: list[type[Provider]] | None = None, placeholder: str = "") -> None:
    from tui.palette import Palette

    if not isinstance(main.app.screen, Palette):
        main.app.push_screen(Palette(providers, placeholder=placeholder or "Search for commands…"))
