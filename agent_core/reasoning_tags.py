"""Reasoning that a model wrote into its answer, in tags, because nothing before us has told it apart."""

from __future__ import annotations

import re

_REASONING_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)


def without_reasoning(answer: str) -> str:
    """What stands outside of reasoning; all before an end of it whose beginning is not there is reasoning too."""
    kept: list[str] = []
    position = 0
    opened: re.Match[str] | None = None
    # One pass: a model that has got stuck may write a beginning thousands of times.
    for tag in _REASONING_TAG.finditer(answer):
        if not tag[1]:
            opened = opened or tag
            continue
        if opened and opened[2].lower() == tag[2].lower():
            kept.append(answer[position : opened.start()])
        else:
            kept.clear()
        position, opened = tag.end(), None
    return "".join([*kept, answer[position:]])
