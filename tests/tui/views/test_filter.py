import pytest
from hypothesis import given

from agent_core.agent import Agent
from agent_core.event import FilterChanged
from agent_core.marks import COMPRESSED, MemoryFilter
from agent_core.message import UserMsg
from tests.tui.views import events as made
from tests.tui.views.events import agent_with
from tui.mark_syntax import parse_filter
from tui.views.content import ContentView
from tui.views.filter import FilterView


class Views:
    """Both views of an agent, kept in step."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.content = ContentView()
        self.filter = FilterView(self.content)
        for event in agent.trace:
            self.apply(event)
        agent.trace.subscribe(self.apply)

    def apply(self, event):
        self.content.apply(event)
        self.filter.apply(event)

    @property
    def shown(self):
        return [self.content.row(position).entry.msg.get_text_content() for position in self.content.shown]


@pytest.fixture
async def views():
    agent = agent_with()
    views = Views(agent)
    for text, marks in (("one", "planning"), ("two", "draft"), ("three", ("planning", "draft")), ("four", None)):
        await agent.observe(UserMsg("user", text), marks=marks)
    return views


async def test_at_first_everything_passes_and_everything_is_shown(views):
    assert views.filter.passing_line == "4 of 4 messages, ≈21 of ≈21 tokens"
    assert views.filter.sending_line == "4 messages, ≈21 tokens"
    assert views.shown == ["one", "two", "three", "four"]
    assert views.filter.is_applied


async def test_a_draft_is_counted_and_looked_through_and_changes_nothing_about_what_is_sent(views):
    views.filter.edit(parse_filter("planning !draft"))
    assert views.filter.passing_line == "1 of 4 messages, ≈5 of ≈21 tokens"
    assert views.filter.sending_line == (
        "1 message, ≈5 tokens; not: 2 filtered out by mark draft · 1 lacks mark planning"
    )
    assert views.shown == ["one"]
    assert views.content.row(0).included
    assert views.content.row(1).included
    assert views.agent.memory_filter == MemoryFilter()


async def test_applied_everything_is_shown_again_with_reasons(views):
    views.filter.edit(parse_filter("planning"))
    views.agent.memory_filter = views.filter.draft
    assert views.filter.is_applied
    assert views.shown == ["one", "two", "three", "four"]
    assert [views.content.row(position).included for position in range(4)] == [True, False, True, False]


async def test_a_filter_applied_elsewhere_is_taken_over_unless_another_is_being_made(views):
    views.agent.memory_filter = MemoryFilter("draft")
    assert views.filter.draft == MemoryFilter("draft")
    views.filter.edit(parse_filter("planning"))
    views.agent.memory_filter = MemoryFilter()
    assert views.filter.draft == MemoryFilter("planning")
    assert not views.filter.is_applied
    assert views.filter.applied == MemoryFilter()


async def test_one_may_look_through_what_is_applied(views):
    views.agent.memory_filter = MemoryFilter("planning")
    views.filter.look(True)
    assert views.shown == ["one", "three"]
    views.filter.look(False)
    assert len(views.shown) == 4


async def test_marks_are_listed_with_their_counts_those_of_people_first(views):
    await views.agent.observe("five", marks=["hint", "Zebra", "[/x]"])
    assert [(count.mark, count.messages) for count in views.filter.marks] == [
        ("[/x]", 1),
        ("draft", 2),
        ("planning", 2),
        ("Zebra", 1),
        ("hint", 1),
    ]


async def test_a_mark_of_the_draft_is_listed_though_no_message_has_it(views):
    views.filter.edit(parse_filter("nowhere"))
    assert ("nowhere", 0, True, False) in views.filter.marks


async def test_toggling_wants_a_mark_leaves_it_out_or_neither(views):
    view = views.filter
    view.toggle_wanted("planning")
    assert view.draft == MemoryFilter("planning")
    view.toggle_wanted("a,b")
    assert view.draft == MemoryFilter(("planning", "a,b"))
    view.toggle_unwanted("planning")
    assert view.draft == MemoryFilter("a,b", "planning")
    view.toggle_wanted("planning")
    assert view.draft == MemoryFilter(("a,b", "planning"))
    view.toggle_wanted("planning")
    view.toggle_wanted("a,b")
    assert view.draft == MemoryFilter()


async def test_the_summary_switch_counts_what_it_covers(views):
    await views.agent.memory.update_messages_mark(COMPRESSED, msg_ids=[views.content.row(0).entry.msg.id])
    await views.agent.memory.update_compressed_summary("they planned")
    assert views.filter.sending_line == "3 messages, ≈16 tokens; not: 1 covered by the summary"
    views.filter.edit(MemoryFilter(prepend_summary=False))
    assert views.filter.sending_line == "4 messages, ≈21 tokens"
    assert views.shown == ["one", "two", "three", "four"]


async def test_one_mark_given_as_a_list_is_the_same_filter(views):
    views.agent.memory_filter = MemoryFilter(("planning",))
    assert views.filter.is_applied
    views.filter.edit(MemoryFilter("planning"))
    assert views.filter.is_applied


@given(made.any_events, made.filters)
def test_no_sequence_of_events_is_a_crash(events, draft):
    content = ContentView()
    view = FilterView(content)
    for number, event in enumerate(events):
        content.apply(event)
        view.apply(event)
        if number % 5 == 2:
            view.edit(draft)
        if isinstance(event, FilterChanged) and view.is_applied:
            assert content.tried is content.judged
        assert content.tried.memory_filter == view.draft
        assert len(view.passing_line) > 0
        assert len(view.sending_line) > 0
        assert all(count.messages >= 0 for count in view.marks)
