"""When what changes all the time is drawn."""

import asyncio

from textual.app import App

from tui.redraw import Redraw


class Drawn(App[None]):
    """Counts its redraws."""

    def __init__(self, interval: float) -> None:
        super().__init__()
        self.times: list[float] = []
        self.redraw = Redraw(self, self._draw, interval)
        self.is_drawn = asyncio.Event()

    def _draw(self) -> None:
        self.times.append(asyncio.get_running_loop().time())
        self.is_drawn.set()


async def test_changes_that_come_together_are_drawn_once():
    app = Drawn(interval=0.01)
    async with app.run_test():
        for _ in range(100):
            app.redraw.soon()
        await app.is_drawn.wait()
        await asyncio.sleep(0.05)

    assert len(app.times) == 1


async def test_a_change_after_a_quiet_while_does_not_wait_for_the_interval():
    app = Drawn(interval=3_600)
    async with app.run_test():
        app.redraw.soon()

        await asyncio.wait_for(app.is_drawn.wait(), 60)


async def test_changes_that_go_on_are_drawn_at_intervals():
    app = Drawn(interval=0.1)
    async with app.run_test():
        began = asyncio.get_running_loop().time()
        while len(app.times) < 3:
            app.redraw.soon()
            await asyncio.sleep(0.001)

    assert app.times[2] - began >= 0.2
