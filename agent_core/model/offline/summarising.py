"""A summary of a conversation without understanding it: who said what, quoted and cut. Nothing in it is made up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agent_core.message import Msg
from agent_core.model.offline.intent import statements_of
from agent_core.model.offline.language import Language, language_of
from agent_core.model.offline.phrases import say
from agent_core.text import first_line, shorten

FIELDS = ("task_overview", "current_state", "discoveries", "next_steps", "context_to_keep")

_TRANSCRIPT = re.compile(r"<transcript>\n(.*)\n</transcript>", re.DOTALL)
_EARLIER = re.compile(r"<earlier-summary>\n(.*?)\n</earlier-summary>", re.DOTALL)
_TURN = re.compile(r"^(?P<speaker>[^\s:：](?:[^\n:：]{0,38})?): ", re.MULTILINE)
_TOOL_USE = re.compile(r"^\((?:calls|result of) ", re.MULTILINE)
_RESULT = re.compile(r"\(result of ")
_QUOTE = 240
_LINES = 40
_EARLIER_LENGTH = 4_000


class _Turn(NamedTuple):
    speaker: str
    text: str


def summarise(messages: Sequence[Msg], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `schema`, filled with quotations.

    Args:
        messages: the last one of a user holds the transcript, and perhaps an earlier summary.
        schema: properties are strings, or lists of strings.
    """
    asked = next((msg.get_text_content() or "" for msg in reversed(messages) if msg.role == "user"), "")
    transcript = _TRANSCRIPT.search(asked)
    turns = _turns(transcript[1] if transcript else asked)
    earlier = _EARLIER.search(asked)
    lines = _lines(turns, earlier[1] if earlier else "", language_of(transcript[1] if transcript else asked))
    return {
        name: _as_wanted(lines[name], wanted) for name, wanted in schema.get("properties", {}).items() if name in lines
    }


def _turns(transcript: str) -> list[_Turn]:
    """The transcript in turns, `name: text` each; what a text has in the same form counts as a turn, too."""
    starts = list(_TURN.finditer(transcript))
    if not starts:
        return [_Turn("", transcript.strip())]
    ends = [*(start.start() for start in starts[1:]), len(transcript)]
    return [
        _Turn(start["speaker"], transcript[start.end() : end].strip()) for start, end in zip(starts, ends, strict=True)
    ]


def _lines(turns: Sequence[_Turn], earlier: str, language: Language) -> dict[str, list[str]]:
    helpers = {turn.speaker for turn in turns if _TOOL_USE.search(turn.text)}
    asker = next((turn.speaker for turn in turns if turn.speaker not in helpers), "")
    asked = [turn for turn in turns if turn.speaker == asker]
    answers = [turn for turn in turns if turn.speaker != asker and not _TOOL_USE.match(turn.text)]
    stated = [turn for turn in asked if statements_of(turn.text)]
    return {
        "task_overview": _quotes(asked[:1]) or [say("no_task", language)],
        "current_state": [*_quotes(asked[-1:]), *_quotes(answers[-1:])],
        "discoveries": _quotes([turn for turn in turns if _RESULT.match(turn.text)][-_LINES:]),
        "next_steps": [say("no_next_steps", language)],
        "context_to_keep": [*([shorten(earlier, _EARLIER_LENGTH)] if earlier else []), *_quotes(stated[-_LINES:])],
    }


def _quotes(turns: Sequence[_Turn]) -> list[str]:
    quotes = [(turn.speaker, first_line(turn.text, _QUOTE)) for turn in turns]
    return [f"{speaker}: “{text}”" if speaker else f"“{text}”" for speaker, text in quotes if text]


def _as_wanted(lines: list[str], wanted: Mapping[str, Any]) -> str | list[str]:
    if wanted.get("type") == "array":
        return lines
    text = "\n".join(lines)
    return shorten(text, wanted["maxLength"]) if "maxLength" in wanted else text
