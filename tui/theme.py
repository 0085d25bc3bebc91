"""What is mended in Textual's themes."""

from __future__ import annotations

from collections.abc import Mapping

from textual.color import Color, ColorParseError

_FADED = ("text-muted", "text-disabled")


def faded_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Colours for what stands back, which themes give as `auto 60%`.

    Textual fades it in CSS only; in content it comes out at full strength.
    """
    try:
        foreground, background = Color.parse(variables["foreground"]), Color.parse(variables["background"])
    except (KeyError, ColorParseError):
        return {}
    if foreground.ansi is not None or background.ansi is not None:
        return {}
    return {
        name: background.blend(foreground, float(value.removeprefix("auto").strip(" %")) / 100).hex
        for name in _FADED
        if (value := variables.get(name, "")).startswith("auto ")
    }
