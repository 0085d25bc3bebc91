"""How the replies of the hints pane are drawn: a few lines each, newest first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from textual.content import Content

from agent_core.event import RecalledMemory
from agent_core.message import HintBlock, Msg
from agent_core.text import first_line
from tui.views.figures import span
from tui.views.hints import HintsView, Lookup, ReplyRecord
from tui.views.hints_text import outcome, told_grace
from tui.views.message_details import Section
from tui.views.message_text import whole_text
from tui.views.origins import told_origin
from tui.views.timeline import OUTCOMES, timeline
from tui.widgets.cells import cut, fit
from tui.widgets.literal import literal_line

_INDENT = "  "
_LABEL = 10
_SPAN = 8
_OUTCOME_STYLES = {"injected": "$text-success", "failed": "$text-error", "cancelled": "$text-warning"}


class Line(NamedTuple):
    """One line of the pane.

    Args:
        key: names it.
        reply: the reply that it belongs to.
        draw: draws it for a width.
        section: what is opened from it; None where its reply is folded and unfolded instead.
    """

    key: Hashable
    reply: ReplyRecord
    draw: Callable[[int], Content]
    section: Section | None = None


class HintsRows:
    """The lines of all replies; taken anew from the view by `refresh`.

    Attributes:
        unfolded: keys of the replies whose injected text is shown.
    """

    def __init__(self, view: HintsView) -> None:
        self._view = view
        self.lines: list[Line] = []
        self.unfolded: set[str] = set()
        self._drawings = 0

    def refresh(self, running: str | None, now: float) -> None:
        """Take over what the view holds now; `running` is the id of the reply that runs."""
        self.lines = []
        self._drawings += 1
        for reply in reversed(self._view.replies):
            self.lines += _reply_lines(reply, now if reply.key == running else None, reply.key in self.unfolded)

    @property
    def keys(self) -> Sequence[Hashable]:
        """A key for each line."""
        return [line.key for line in self.lines]

    def stamp(self, index: int) -> Hashable:
        """Another one after each `refresh`: time lines grow without anything else being new."""
        return self._drawings

    def draw(self, index: int, width: int) -> Content:
        """One line, fit for so many cells."""
        return self.lines[index].draw(width)


def _reply_lines(reply: ReplyRecord, now: float | None, is_unfolded: bool) -> Iterator[Line]:
    arrow = "▾" if is_unfolded else "▸"
    question = reply.question or "(the question is not known)"
    yield Line((reply.key, "head"), reply, partial(_text, "", f"{arrow} {question}", "bold"))
    if not reply.lookups:
        yield _text_line(reply, ("none",), "nothing was looked up")
    for number, lookup in enumerate(reply.lookups):
        what = f"facts: {outcome(lookup, now)}" if lookup.is_facts else outcome(lookup, now)
        grace = told_grace(reply, now) if lookup.patience != 0 else ""
        if grace and not is_unfolded:
            what += f" · {grace}"
        yield _text_line(reply, ("outcome", number), f"{_glyph(lookup)} {what}", _style(lookup))
        if grace and is_unfolded:
            # Narrow panes have no room for it beside the outcome.
            yield _text_line(reply, ("grace", number), f"the first round was {grace}")
    for number, lookup in enumerate(reply.brought):
        text = f"also put in here: what was looked up for “{first_line(lookup.question)}”"
        yield _text_line(reply, ("brought", number), text)
    yield Line((reply.key, "rounds"), reply, partial(_rounds, reply, now))
    for number in range(len(reply.lookups)):
        yield Line((reply.key, "track", number), reply, partial(_track, reply, number, now))
    for key, title, section in _sources(reply):
        yield _text_line(reply, key, f"· {title}", section=section)
        if is_unfolded:
            for number, line in enumerate(section.text.splitlines()):
                yield _text_line(reply, (*key, number), f"┆ {line}", "$text-muted", section)


def _sources(reply: ReplyRecord) -> Iterator[tuple[tuple[Hashable, ...], str, Section]]:
    """What was chosen or put in: a key, a title, the text. Facts are left to the pane that is about them."""
    placed: set[str] = set()
    for number, lookup in enumerate(reply.lookups):
        placed.update(lookup.settled.msg_ids if lookup.settled else ())
        if lookup.is_facts:
            continue
        for place, memory in enumerate(lookup.memories):
            yield ("memory", number, place), _memory_title(memory), _memory_section(memory)
    for lookup in reply.brought:
        placed.update(lookup.settled.msg_ids if lookup.settled else ())
    for msg in reply.hints:
        if msg.id not in placed:
            yield ("hint", msg.id), f"hint from {_source(msg)}", Section(_source(msg), whole_text(msg))


def _memory_title(memory: RecalledMemory) -> str:
    score = "" if memory.score is None else f"  {memory.score:.2f}"
    origin = f" · from {memory.origin}" if memory.origin else ""
    return f"{memory.path.rsplit('/', maxsplit=1)[-1]}{score}  {memory.reason}{origin}".rstrip()


def _memory_section(memory: RecalledMemory) -> Section:
    origin = f"(came from {told_origin(memory.origin)})\n" if memory.origin else ""
    return Section(memory.path, f"{origin}{memory.text}")


def _source(msg: Msg) -> str:
    sources = (block.source for block in msg.get_content_blocks(HintBlock) if block.source)
    return next(sources, msg.name)


def _text_line(
    reply: ReplyRecord, key: tuple[Hashable, ...], text: str, style: str = "", section: Section | None = None
) -> Line:
    return Line((reply.key, *key), reply, partial(_text, _INDENT, text, style), section)


def _text(indent: str, text: str, style: str, width: int) -> Content:
    return Content.assemble(indent, literal_line(cut(text, max(0, width - len(indent))), style))


def _rounds(reply: ReplyRecord, now: float | None, width: int) -> Content:
    drawn = timeline(reply, _track_width(width), now)
    return _labelled("rounds", drawn.rounds, "$text-primary", span(drawn.seconds))


def _track(reply: ReplyRecord, number: int, now: float | None, width: int) -> Content:
    drawn = timeline(reply, _track_width(width), now)
    lookup = reply.lookups[number]
    seconds = span(lookup.ended_at - lookup.started) if lookup.ended is not None else ""
    return _labelled(
        "facts" if lookup.is_facts else "retrieval", drawn.lookups[number], _style(lookup) or "$text-accent", seconds
    )


def _labelled(label: str, track: str, style: str, seconds: str) -> Content:
    return Content.assemble(_INDENT, (fit(label, _LABEL), "$text-muted"), (track, style), f" {seconds}")


def _track_width(width: int) -> int:
    return max(1, width - len(_INDENT) - _LABEL - _SPAN)


def _glyph(lookup: Lookup) -> str:
    if lookup.settled is not None:
        return OUTCOMES[lookup.settled.outcome]
    return "»" if lookup.carried_at is not None else "⋯"


def _style(lookup: Lookup) -> str:
    return _OUTCOME_STYLES.get(lookup.settled.outcome, "") if lookup.settled is not None else ""
