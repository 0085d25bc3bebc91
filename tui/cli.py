"""The command line: what may be typed after `mnemoscope`, and nothing more."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any, Literal, NoReturn

from msgspec import Struct

from tui.typed_text import typed_text

Command = Literal["chat", "ask", "sessions", "config", "memory", "facts", "marks"]

_DESCRIPTION = """\
A terminal chat agent whose memory you can watch.

Without a command: the chat, with panes that show every message with its marks, what the filter lets
through to the model, the memory index, and what was recalled. Without a model it works offline."""
_EPILOG = """\
examples:
  mnemoscope                                     chat; offline until a model is connected
  mnemoscope --model qwen3:8b --base-url http://127.0.0.1:11434/v1
  mnemoscope -c                                  go on with the last session here
  mnemoscope ask "where do I live?"              one answer, without a screen
  git diff | mnemoscope ask "review this"        the same, with standard input behind the words

The API key is taken from MNEMOSCOPE_API_KEY or OPENAI_API_KEY. `mnemoscope config` shows every
setting, where it comes from, and the file that holds them."""


class Options(Struct, frozen=True, kw_only=True):
    """What was asked for on the command line.

    Args:
        command: `chat` is the program with its screen.
        settings: values of settings that were given, by name.
        go_on: go on with the newest session of the workdir.
        resume: id of the session to go on with.
        question: the words of `ask`; empty when all of it comes from standard input.
        awaits_input: the last word was -: standard input belongs to the question, however long it takes.
        json: print JSON, one value a line.
        allow_writes: let `ask` change files in the workdir.
        delete: id of the session that `sessions` deletes.
        group: what was given to a command of `GROUPS`, by name; `action` is what is to be done.
    """

    command: Command = "chat"
    settings: dict[str, str | None] = {}
    go_on: bool = False
    resume: str | None = None
    question: str = ""
    awaits_input: bool = False
    json: bool = False
    allow_writes: bool = False
    delete: str | None = None
    group: dict[str, Any] = {}


GROUPS: dict[str, str] = {
    "marks": "the marks of a session: compare what two filters let through",
    "memory": "the memory files: list, show, search, lint, history, undo, export, import, and changes by hand",
    "facts": "the facts that mem0 keeps: list, search, add, delete, history, forget, reindex",
}
"""Commands with actions of their own, and what they work with; each has a module in `tui.subcommands`."""
MEM0_MODES = ("off", "static_control", "agent_control", "both")
SETTING_OPTIONS = ("model", "base_url", "workdir", "data_dir", "memory", "mem0", "user")


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Read the command line; `sys.argv` when None. Exits with 2 on wrong usage, and with 0 after help or version."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    found = vars(_parser(words).parse_args(words))
    question = list(found.get("question", ()))
    awaits_input = question[-1:] == ["-"]
    # The command `memory` and the option `--memory` are two things.
    settings = {name: found.get("memory_url" if name == "memory" else name) for name in SETTING_OPTIONS}
    return Options(
        command=found.get("command") or "chat",
        settings=settings,
        go_on=found.get("go_on", False),
        resume=found.get("resume"),
        question=" ".join(question[:-1] if awaits_input else question),
        awaits_input=awaits_input,
        json=found.get("json", False),
        allow_writes=found.get("allow_writes", False),
        delete=found.get("delete"),
        group=found if found.get("command") in GROUPS else {},
    )


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    shared, model, session = places(), _model(), _session()
    parser: argparse.ArgumentParser = _Parser(
        prog="mnemoscope",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        parents=[model, shared, session],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    commands.add_parser(
        "ask",
        help="answer one question on standard output, without a screen",
        description="Answer one question on standard output. Nobody is asked anything: changes to files are refused "
        "unless allowed. The session is kept; -c goes on with it. Exits with 1 when the reply failed.",
        parents=[model, shared, session, _ask()],
    )
    commands.add_parser(
        "sessions",
        help="list the sessions, newest first",
        description="List the sessions.",
        parents=[shared, _sessions()],
    )
    commands.add_parser(
        "config",
        help="show the settings in effect, and their file",
        description="Print the settings in effect as a commented TOML file.",
        parents=[model, shared],
    )
    for name, help_ in GROUPS.items():
        group = commands.add_parser(name, help=help_, description=f"Work with {help_}.", parents=[shared])
        if name in words:
            # Built only when it is needed: the program itself starts without them.
            importlib.import_module(f"tui.subcommands.{name}").add_actions(group)
    return parser


def _group() -> argparse.ArgumentParser:
    # What stands before a command must survive the command's own defaults, so there are none.
    return argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)


def _model() -> argparse.ArgumentParser:
    group = _group()
    group.add_argument("--model", metavar="M", help="the model that answers")
    group.add_argument("--base-url", metavar="URL", help="address of an OpenAI-compatible API; usually ends in /v1")
    return group


def _ask() -> argparse.ArgumentParser:
    group = _group()
    group.add_argument(
        "question",
        nargs="*",
        type=typed_text,
        metavar="QUESTION",
        help="words; what is piped in is put behind them. None, or a last word -, waits for it as long as it takes",
    )
    group.add_argument("--json", action="store_true", help="print every event as JSON, one a line")
    group.add_argument("--allow-writes", action="store_true", help="let the agent change files in the workdir")
    return group


def _sessions() -> argparse.ArgumentParser:
    group = _group()
    group.add_argument("--json", action="store_true", help="print JSON, one session a line")
    group.add_argument("--delete", metavar="ID", help="delete the session of this id instead")
    return group


def places() -> argparse.ArgumentParser:
    """The options that every command and action takes, as a parent of its parser."""
    group = _group()
    group.add_argument(
        "--workdir",
        metavar="DIR",
        help="the folder that the agent works in, here or at sftp://, s3://, docker://, e2b://; memory is DIR/Memory",
    )
    group.add_argument("--data-dir", metavar="DIR", help="where sessions and the usual workdir are kept")
    group.add_argument("--user", metavar="ID", help="whose memory it is, in stores that hold several people's")
    return group


def _session() -> argparse.ArgumentParser:
    group = _group()
    group.add_argument("--memory", dest="memory_url", metavar="URL", help="the store that keeps the messages")
    group.add_argument("--mem0", metavar="MODE", choices=MEM0_MODES, help=f"mem0 facts: {', '.join(MEM0_MODES)}")
    which = group.add_mutually_exclusive_group()
    which.add_argument("-c", "--continue", dest="go_on", action="store_true", help="go on with the last session here")
    which.add_argument("--resume", metavar="ID", help="go on with this session; the beginning of its id will do")
    return group


class _Parser(argparse.ArgumentParser):
    """Complains about words as they are, without what in them could act on the terminal.

    Options are written out: `--mode` is no short form of `--model`, which would send what is asked to another place.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and exit with 2."""
        from tui.literal_text import visible_line

        super().error(visible_line(message))


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *args: object) -> None:
        from importlib.metadata import version

        print(f"mnemoscope {version('mnemoscope')}")
        parser.exit()
