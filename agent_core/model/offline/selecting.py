"""Choosing memory files for a question from a list of their descriptions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agent_core.message import Msg
from agent_core.model.offline.matching import is_about_me, question_terms, terms_of

FIELD = "selected_files"
_MOST = 5
_LINE = re.compile(r"^- \[(?P<type>[^\]]*)\] (?P<file>.+?) \((?P<date>\d{4}-\d\d-\d\d)\):[ \t]*(?P<description>.*)$")
_LABEL = re.compile(r"^[^\n]{0,40}:\s*$", re.MULTILINE)


class _File(NamedTuple):
    type: str
    name: str
    description: str


def select_files(messages: Sequence[Msg]) -> list[str]:
    """The files that fit, best first.

    Args:
        messages: the last one of a user holds the question and, after it, a line for each file:
            `- [type] file.md (YYYY-MM-DD): description`.
    """
    asked = next((msg.get_text_content() or "" for msg in reversed(messages) if msg.role == "user"), "")
    question, files = _take_apart(asked)
    terms = question_terms(question)
    scores = {file: len(terms.shared_with(terms_of(f"{file.name} {file.description}"))) for file in files}
    fitting = [file.name for file in sorted(files, key=lambda file: scores[file], reverse=True) if scores[file]]
    if is_about_me(question):
        fitting += [file.name for file in files if file.type == "user" and not scores[file]]
    return fitting[:_MOST]


def _take_apart(asked: str) -> tuple[str, list[_File]]:
    """The question, and the files of the list that ends the message."""
    lines = asked.rstrip().split("\n")
    files: list[_File] = []
    while lines and (match := _LINE.match(lines[-1])):
        files.append(_File(match["type"], match["file"], match["description"]))
        lines.pop()
    question = _LABEL.sub("", "\n".join(lines))
    return question, files[::-1]
