"""From the raw text of a tool call's arguments to the arguments, or to words about what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

from agent_core.errors import ToolError
from agent_core.json_text import load_object
from agent_core.text import shorten

_EXCERPT = 24


def parse_arguments(raw: str, finish_reason: str | None = None) -> dict[str, Any]:
    """The arguments of a tool call. Text that is empty, or `null`, means none.

    Args:
        raw: the JSON text as the model wrote it.
        finish_reason: how the answer ended; after `length` a text that is not complete was cut by the token limit.

    Raises:
        ToolError: the text is truncated, or malformed, or no object. The message tells the model which, and where.
    """
    cut = finish_reason == "length"
    if not cut and raw.strip() in ("", "null"):
        return {}
    try:
        return load_object(raw)
    except json.JSONDecodeError as error:
        raise ToolError(_complaint(raw, error, cut)) from None
    except ValueError as error:
        raise ToolError(f"the call was not made: its arguments cannot be used: {error}") from None


def _complaint(raw: str, error: json.JSONDecodeError, cut: bool) -> str:
    if cut:
        return (
            f"the call was not made: its arguments were truncated after {len(raw)} characters, because the answer "
            "reached the limit of output tokens; make the call again with less, or in several parts"
        )
    if _ends_early(raw, error):
        return (
            f"the call was not made: its arguments are truncated, they end after {len(raw)} characters before they "
            "are complete; make the call again"
        )
    near = shorten(raw[error.pos : error.pos + _EXCERPT * 2], _EXCERPT)
    advice = "; a backslash is written \\\\ in JSON" if "escape" in error.msg else ""
    return (
        f"the call was not made: its arguments are malformed JSON at position {error.pos}, near {near!r}: "
        f"{error.msg[0].lower()}{error.msg[1:]}{advice}"
    )


def _ends_early(raw: str, error: json.JSONDecodeError) -> bool:
    """Whether the text is sound as far as it goes."""
    return error.pos >= len(raw.rstrip()) or error.msg.startswith("Unterminated string")
