import pytest
from hypothesis import given

from agent_core.event import FileChanged, IndexRead
from memory.agentic.folder import IndexFile, Scan
from memory.agentic.index import fit_index
from tests.tui.views import events as made
from tui.views.index import IndexView
from tui.views.index_look import FolderLook

PATH = "/w/Memory/MEMORY.md"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (None, "not read yet: it goes into the prompt with the next reply"),
        (IndexRead(path=PATH, found=False), f"none at {PATH}"),
        (IndexRead(path=PATH, found=True), f"empty: {PATH}"),
        (IndexRead(path=PATH, found=True, lines=1, injected_lines=1, tokens=9), "loaded all 1 line, ≈9 tokens"),
        (
            IndexRead(path=PATH, found=True, lines=1, injected_lines=1, tokens=9, is_fenced=True),
            "loaded all 1 line, ≈9 tokens, set apart as data (a tool's result had a part in it)",
        ),
        (
            IndexRead(path=PATH, found=True, lines=52, injected_lines=40, tokens=4000, cut_line=41),
            "loaded 40 of 52 lines, ≈4.0k tokens, cut at line 41",
        ),
        (
            IndexRead(path=PATH, found=True, lines=2, injected_lines=0, tokens=9, cut_line=1),
            "loaded 0 of 2 lines, ≈9 tokens, cut at line 1",
        ),
    ],
)
def test_what_was_injected_is_told_with_the_line_of_the_cut(event, line):
    view = IndexView()
    if event is not None:
        assert view.apply(event)
    assert view.injected_line == line


def look(text: str, found: bool = True, badge: str = "") -> FolderLook:
    return FolderLook(Scan(), IndexFile(PATH, found, text, badge), fit_index(text, None))


def test_a_change_since_the_last_prompt_is_told():
    view = IndexView()
    view.take(look("a"))
    assert view.drift_line == ""
    view.apply(IndexRead(path=PATH, found=True, text="a", lines=1, injected_lines=1))
    assert view.drift_line == ""
    view.take(look("b"))
    assert view.drift_line == "changed since: the next prompt has it as it is now"
    view.take(look("", found=False))
    assert view.drift_line == "deleted since"
    view.take(look("", badge="binary"))
    assert view.drift_line == f"{PATH}: binary"


def test_a_look_that_shows_nothing_new_is_no_change():
    view = IndexView()
    assert view.take(look("a")._replace(scan=Scan(headers_read=3)))
    assert not view.take(look("a")._replace(scan=Scan(headers_read=0)))


def test_who_changed_a_file_last_is_kept():
    view = IndexView()
    view.apply(FileChanged(path="/m/x.md", origin="model"))
    view.apply(FileChanged(path="/m/x.md", origin="outside"))
    assert view.changed_by == {"/m/x.md": "outside"}


@given(made.any_events)
def test_no_sequence_of_events_is_a_crash(events):
    view = IndexView()
    for event in events:
        view.apply(event)
        assert "\n" not in view.injected_line
        assert view.drift_line == ""
