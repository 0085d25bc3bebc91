"""`mnemoscope marks`: what filters over marks let through, read from a session that may be open elsewhere."""

from __future__ import annotations

import argparse
import json

from tui.cli import Options, places
from tui.config import Settings
from tui.typed_text import typed_text

_DESCRIPTION = """\
Compare two filters over the messages of a session: what both let through, and what only one does.

A filter is written as after /filter: planning "a b" !draft. An empty one lets everything through."""


def add_actions(parser: argparse.ArgumentParser) -> None:
    """What can be done with marks."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    compare = actions.add_parser(
        "compare",
        help="two filters side by side",
        description=_DESCRIPTION,
        parents=[places()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.add_argument("first", type=typed_text, metavar="FILTER_A", help="a filter, in quotes: 'planning !draft'")
    compare.add_argument("second", type=typed_text, metavar="FILTER_B", help="the other one")
    compare.add_argument(
        "--session", metavar="ID", help="the session, or the beginning of its id; else the newest here"
    )
    compare.add_argument("--json", action="store_true", help="print JSON: the two filters, then one message a line")


def run(options: Options, settings: Settings) -> int:
    """Print a comparison. Returns the exit code.

    Raises:
        MnemoscopeError: a filter cannot be read, or there is no such session.
    """
    from agent_core.errors import MnemoscopeError
    from tui.literal_text import harmless_json, visible
    from tui.mark_syntax import MarkSyntaxError, parse_filter
    from tui.saying import say
    from tui.session_store import SessionStore
    from tui.views.comparison import comparison_records, comparison_sections, put_side_by_side
    from tui.views.message_details import as_text
    from tui.workspace import workdir_name

    given = options.group
    filters = []
    for name in ("first", "second"):
        try:
            filters.append(parse_filter(given[name]))
        except MarkSyntaxError as error:
            raise MnemoscopeError(f"The {name} filter cannot be read: {error}") from None
    id_, session = SessionStore(settings.sessions_dir).read(given.get("session"), workdir_name(settings))
    for notice in session.notices:
        say(notice)
    beside = put_side_by_side(session.entries, *filters, has_summary=bool(session.summary))
    if given.get("json"):
        for record in comparison_records(beside):
            print(harmless_json(json.dumps({**record, "session": id_}, ensure_ascii=False)))
    else:
        print(f"session {id_}\n\n{visible(as_text(comparison_sections(beside)))}")
    return 0
