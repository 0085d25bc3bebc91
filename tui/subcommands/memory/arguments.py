"""What may be typed after `mnemoscope memory`."""

from __future__ import annotations

import argparse

from tui.typed_text import typed_text

TYPES = ("user", "feedback", "project", "reference")
_NAME = "its path from the memory folder, the name in its header, or the beginning of one; MEMORY.md is the index"


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Add the actions to the parser of the command."""
    actions = _Actions(parser)
    _add_looking(actions)
    _add_history(actions)
    _add_changing(actions)
    _add_carrying(actions)


class _Actions:
    """Adds actions, each with the options that all of them have."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        from tui.cli import places

        self._shared = places()
        self._shared.add_argument("--json", action="store_true", help="print JSON, one value a line")
        self._actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)

    def add(self, name: str, does: str, more: str = "") -> argparse.ArgumentParser:
        """Add an action that `does` something, in words for people."""
        description = f"{does[0].upper()}{does[1:]}. {more}".strip()
        return self._actions.add_parser(name, help=does, description=description, parents=[self._shared])

    def add_named(self, name: str, does: str, more: str = "") -> argparse.ArgumentParser:
        """Add an action on one memory."""
        action = self.add(name, does, more)
        action.add_argument("name", metavar="NAME", help=_NAME)
        return action


def _add_looking(actions: _Actions) -> None:
    actions.add("list", "list the memories, the newest first")
    actions.add_named("show", "show a memory, or with MEMORY.md the index and what of it goes into prompts")
    search = actions.add("search", "find memories by words and, with the extra `embed`, by meaning")
    search.add_argument("words", nargs="+", type=typed_text, metavar="WORD", help="what is looked for")
    search.add_argument("--limit", type=_count, default=10, metavar="N", help="memories shown at most (10)")
    lint = actions.add("lint", "say what is not in order", "Exits with 1 when something is left that is not.")
    lint.add_argument("--fix", action="store_true", help="mend the index where nothing can be lost by it")


def _add_history(actions: _Actions) -> None:
    history = actions.add("history", "show who changed what, when, and which message made it happen")
    history.add_argument("name", nargs="?", type=_given, metavar="NAME", help=f"{_NAME}; without it, of all memories")
    history.add_argument("--diff", action="store_true", help="show what each change did")
    history.add_argument("--limit", type=_count, metavar="N", help="changes shown at most")
    undo = actions.add(
        "undo",
        "take a change back, the newest one unless told otherwise",
        "Refused, with the difference, when the file has changed since. An undoing is a change, and can be undone too.",
    )
    undo.add_argument(
        "entry", nargs="?", type=_given, metavar="ENTRY", help="id of the change in the history, or its beginning"
    )


def _add_changing(actions: _Actions) -> None:
    new = actions.add("new", "write a new memory in your editor", "The editor is that of VISUAL or EDITOR.")
    new.add_argument(
        "name", type=_given, metavar="NAME", help="its title, or its path from the memory folder, which ends in .md"
    )
    new.add_argument("--type", choices=TYPES, default="user", help="what it is about (user)")
    new.add_argument(
        "--description", default="", metavar="TEXT", help="one line: decides whether it is looked at later"
    )
    edit = actions.add_named("edit", "change a memory, or the index, in your editor", "See `new` for the editor.")
    for action in (new, edit):
        action.add_argument(
            "--from", dest="source", metavar="FILE", help="take the text from a file instead; - is stdin"
        )
    rename = actions.add_named("rename", "call a memory otherwise; links to it are kept")
    rename.add_argument("new", metavar="NEW", help="its new path from the memory folder")
    delete = actions.add_named("delete", "delete a memory; `undo` brings it back")
    delete.add_argument(
        "--for-good", action="store_true", help="also from its history and the sessions; nothing brings it back"
    )
    for action in (new, edit, delete):
        action.add_argument("--yes", action="store_true", help="ask nothing")
    actions.add_named("pin", "have a memory recalled before all others")
    actions.add_named("unpin", "undo `pin`")
    actions.add_named("disable", "take a memory out of use without deleting it")
    actions.add_named("enable", "undo `disable`")


def _add_carrying(actions: _Actions) -> None:
    export = actions.add("export", "write all memories into one file: ZIP, or JSON when its name ends in .json")
    export.add_argument("file", metavar="FILE", help="where to; - is standard output")
    export.add_argument("--force", action="store_true", help="replace the file when there is one")
    import_ = actions.add(
        "import",
        "take in an export, a zipped folder, or a memory folder of this program, AgentScope or Claude Code",
        "Memories that are here already stay as they are.",
    )
    import_.add_argument("file", metavar="FILE|FOLDER", help="where from")
    import_.add_argument("--dry-run", action="store_true", help="only say what would be done")
    import_.add_argument("--overwrite", action="store_true", help="replace memories of the same name")
    for action in (export, import_):
        action.add_argument("--with-history", action="store_true", help="with the history of the memories")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 up")
    return int(text)


def _given(text: str) -> str:
    """What must not be left empty, as a variable of a script may be that was never set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text
