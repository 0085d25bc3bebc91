"""The settings that there are, and the TOML file that may hold them."""

from __future__ import annotations

import math
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any, NamedTuple

from agent_core.errors import MnemoscopeError
from agent_core.tool.local_files import read_file
from tui.cli import MEM0_MODES
from tui.memory_url import anchored

DEFAULT_MODEL = "gpt-4.1-mini"
"""Asked for when there is a key but neither a model nor an address."""


class ConfigError(MnemoscopeError):
    """A setting cannot be used; says where it stands and what to do."""


class Setting(NamedTuple):
    """One setting: its name in the file, its type there, what it means, an example, and where else it can be set."""

    name: str
    kind: type
    help: str
    example: str
    variables: tuple[str, ...] = ()
    option: str = ""


SETTINGS = (
    Setting(
        "model",
        str,
        f"The model that answers. With a key alone it is {DEFAULT_MODEL}.",
        '"qwen3:8b"',
        ("MNEMOSCOPE_MODEL", "OPENAI_MODEL"),
        "--model",
    ),
    Setting(
        "base_url",
        str,
        "Address of an OpenAI-compatible API; it usually ends in /v1.",
        '"http://127.0.0.1:11434/v1"',
        ("MNEMOSCOPE_BASE_URL", "OPENAI_BASE_URL"),
        "--base-url",
    ),
    Setting(
        "api_key",
        str,
        "The key for it. Servers on this machine usually need none.",
        '"sk-..."',
        ("MNEMOSCOPE_API_KEY", "OPENAI_API_KEY"),
    ),
    Setting("context_size", int, "The model's window in tokens, where the endpoint does not tell it.", "32768"),
    Setting(
        "workdir",
        str,
        "The folder that the agent works in, also sftp://, s3://, docker:// …; its memory is the folder Memory in it.",
        '"~/notes"',
        option="--workdir",
    ),
    Setting(
        "memory",
        str,
        "The store that keeps the messages; without one the session file does.",
        '"sqlite:///chat.db"',
        option="--memory",
    ),
    Setting(
        "retrieval_grace",
        float,
        "Seconds that an answer waits at most for what is recalled from the memory files; /grace changes it.",
        "2.0",
    ),
    Setting(
        "retrieval_carry_over",
        bool,
        "Whether what is recalled too late goes into the next reply; /carry changes it.",
        "true",
    ),
    Setting("mem0", str, f"Facts kept by mem0: {', '.join(MEM0_MODES)}.", '"both"', option="--mem0"),
    Setting(
        "mem0_config",
        dict,
        "Other stores and models for mem0: a table, handed to it as it is; docs/facts-with-mem0.md has examples.",
        '{ vector_store = { provider = "qdrant", config = { host = "127.0.0.1" } } }',
    ),
    Setting(
        "embedding_model",
        str,
        "The model that makes facts comparable, instead of the bundled one; /v1/embeddings must know it.",
        '"text-embedding-3-small"',
        ("MNEMOSCOPE_EMBEDDING_MODEL",),
    ),
    Setting(
        "embedding_base_url",
        str,
        "Its address, where that is not base_url.",
        '"http://127.0.0.1:11434/v1"',
        ("MNEMOSCOPE_EMBEDDING_BASE_URL",),
    ),
    Setting(
        "embedding_api_key",
        str,
        "The key for that address; at base_url it is api_key.",
        '"sk-..."',
        ("MNEMOSCOPE_EMBEDDING_API_KEY",),
    ),
    Setting("user", str, "Whose memory it is, in stores that hold several people's.", '"ana"', option="--user"),
    Setting(
        "mark_rules",
        list,
        "Rules that set marks: tables with marks, and role, tool or pattern; /rules shows them.",
        '[{ marks = "deadline", role = "user", pattern = "due|deadline" }]',
    ),
    Setting("theme", str, "Colours: the name of a theme; /theme in the program lists them.", '"nord"'),
    Setting("data_dir", str, "Where sessions and the usual workdir are kept.", '"~/mnemoscope"', option="--data-dir"),
)
_KINDS = {
    str: "text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list of tables",
}
_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[^}/]*\})")
BY_NAME = {setting.name: setting for setting in SETTINGS}


class ConfigFile:
    """The TOML file: its values, checked, and the lines that they stand on."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._text = self._read()
        table = self._table() if self._text else {}
        self.values = {name: self._checked(name, value) for name, value in table.items() if self._is_known(name)}
        if self.values.keys() & {"api_key", "embedding_api_key"}:
            self._warn_if_others_can_read()

    def _read(self) -> str:
        if self.path is None:
            return ""
        try:
            return read_file(str(self.path), None, follow=True).decode("utf-8-sig").replace("\r\n", "\n")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {error.strerror}. Mend it, or move it away.") from error
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ConfigError(f"{self.path}, line {line}: not UTF-8. Save the file as UTF-8.") from None

    def _table(self) -> dict[str, object]:
        import tomllib

        try:
            return tomllib.loads(self._text)
        except RecursionError:
            raise ConfigError(f"{self.path}: nested too deeply. Mend it, or move the file away.") from None
        except ValueError as error:
            what = str(error).replace("at end of document", f"at line {len(self._text.splitlines())}, the end")
            raise ConfigError(f"{self.path}: {what}. Mend that line, or move the file away.") from None

    def place(self, name: str) -> str:
        """Where a setting stands, for people."""
        found = re.search(rf"""^[ \t]*["']?{re.escape(name)}["']?[ \t]*[=.\]]""", self._text, re.MULTILINE)
        found = found or re.search(rf"""^[ \t]*\[+[ \t]*["']?{re.escape(name)}\b""", self._text, re.MULTILINE)
        return f"{self.path}, line {self._text.count(chr(10), 0, found.start()) + 1}" if found else str(self.path)

    def place_in_table(self, name: str, number: int, key: str) -> str:
        """Where a key stands in the table of this number (0 is the first) of several of one name; else the table."""
        header = rf"""^[ \t]*\[\[[ \t]*["']?{re.escape(name)}["']?[ \t]*\]\]"""
        headers = list(re.finditer(header, self._text, re.MULTILINE))
        if number >= len(headers):
            return self.place(name)
        start = headers[number].start()
        end = headers[number + 1].start() if number + 1 < len(headers) else len(self._text)
        found = re.compile(rf"""^[ \t]*["']?{re.escape(key)}["']?[ \t]*=""", re.MULTILINE).search(
            self._text, start, end
        )
        return f"{self.path}, line {self._text.count(chr(10), 0, found.start() if found else start) + 1}"

    def _is_known(self, name: str) -> bool:
        if name not in BY_NAME:
            self.warnings.append(f"{self.place(name)}: there is no setting {name!r}; there are {', '.join(BY_NAME)}.")
        return name in BY_NAME

    def _checked(self, name: str, value: Any) -> Any:
        kind = BY_NAME[name].kind
        example = BY_NAME[name].example
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) < 2**53 else math.inf
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            wanted = _KINDS[kind]
            raise ConfigError(f"{self.place(name)}: {name} must be {wanted}, for example {name} = {example}")
        if isinstance(value, float) and not 0 <= value < math.inf:
            raise ConfigError(f"{self.place(name)}: {name} must be 0 or more, for example {name} = {example}")
        if kind is int and isinstance(value, int) and value <= 0:
            raise ConfigError(f"{self.place(name)}: {name} must be above 0, for example {name} = {example}")
        is_folder = name == "data_dir" or (name == "workdir" and "://" not in str(value))
        if is_folder and value and self.path is not None:
            value = str(self.path.parent / self._expanded(name, str(value)))
        if name == "memory" and self.path is not None:
            value = anchored(str(value), self.path.parent)
        return value

    def _expanded(self, name: str, path: str) -> str:
        if "\0" in path:
            raise ConfigError(f"{self.place(name)}: no folder can be called {path!r}; write another.")
        return expanded(path)

    def _warn_if_others_can_read(self) -> None:
        if (
            self.path is not None
            and sys.platform != "win32"
            and self.path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
        ):
            self.warnings.append(f"{self.path} holds a key and others can read it; chmod 600 keeps it yours.")


def expanded(path: str) -> str:
    """`path` with the `~`, `$NAME` or `${NAME}` that it begins with expanded; shells do not do it in files and quotes.

    Raises:
        ConfigError: nobody knows that folder; one that is named `~` or `${HOME}` here would be a surprise.
    """
    found = _VARIABLE.match(path)
    expanded = os.path.expandvars(found[0]) + path[found.end() :] if found else os.path.expanduser(path)
    if (found or path.startswith("~")) and (expanded == path or not os.path.isabs(expanded)):
        raise ConfigError(f"The folder that {path!r} begins with is not known; write the whole path.")
    return expanded
