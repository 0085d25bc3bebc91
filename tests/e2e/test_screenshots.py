"""The pictures of the documentation: an SVG of the screen, drawn by a real browser."""

from __future__ import annotations

import struct
from pathlib import Path

from screenshots.make import to_png
from tests.services import require


def test_a_picture_is_drawn_by_a_browser_in_its_own_size(tmp_path: Path) -> None:
    svg, png = tmp_path / "picture.svg", tmp_path / "picture.png"
    svg.write_text('<svg viewBox="0 0 120 40.4" xmlns="http://www.w3.org/2000/svg"><text y="20">记忆</text></svg>')
    to_png(require("chromium"), svg, png)
    head = png.read_bytes()[:24]
    assert (head[:8], struct.unpack(">II", head[16:])) == (b"\x89PNG\r\n\x1a\n", (120, 40))
