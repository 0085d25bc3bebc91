"""The program with its screen, from the first paint to the last."""

from __future__ import annotations

import sys

from tui.app import MnemoscopeApp
from tui.cli import Options
from tui.config import Settings
from tui.garbage import GarbageCollection
from tui.runtime import Runtime
from tui.saying import say
from tui.session import GOES_ON

_SWITCH_SECONDS = 0.001
"""How long a thread may keep the others waiting. A key passes through several hands before it is seen, and while a huge
answer is laid out in a thread it would wait five times as long at each."""


async def chat(options: Options, settings: Settings) -> int:
    """Run the app and return its exit code.

    Raises:
        StorageError: the session to go on with cannot be had.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    runtime = Runtime(settings, resume=options.resume, go_on=options.go_on)
    try:
        await runtime.find_session()
        app = MnemoscopeApp(runtime)
        GarbageCollection(lambda: app.main.chat.is_working).start()
        if settings.theme in app.available_themes:
            app.theme = settings.theme
        elif settings.theme:
            runtime.notices.append(f"There is no theme {settings.theme!r}; /theme lists them.")
        try:
            await app.run_async()
        finally:
            for told in filter(None, [*app.kept_texts, runtime.unsent.told]):
                say(told)
        return app.return_code or 0
    finally:
        await runtime.aclose()
        if runtime.last_words:
            say(runtime.last_words)
        if problem := runtime.session.problem:
            # The last that can be done is done, and the status line that has said it is gone.
            say(problem.removesuffix(GOES_ON))
