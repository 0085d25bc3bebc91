"""The program with its screen, from the first paint to the last."""

from __future__ import annotations

from tui.app import MnemoscopeApp
from tui.cli import Options
from tui.config import Settings
from tui.runtime import Runtime


async def chat(options: Options, settings: Settings) -> int:
    """Run the app and return its exit code.

    Raises:
        StorageError: the session to go on with cannot be had.
    """
    runtime = Runtime(settings, resume=options.resume, go_on=options.go_on)
    app = MnemoscopeApp(runtime)
    if settings.theme in app.available_themes:
        app.theme = settings.theme
    elif settings.theme:
        runtime.notices.append(f"There is no theme {settings.theme!r}; /theme lists them.")
    try:
        await app.run_async()
        return app.return_code or 0
    finally:
        await runtime.aclose()
