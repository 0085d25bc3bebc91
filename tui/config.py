"""Settings in effect: for each, where its value came from.

An option on the command line comes first, then `MNEMOSCOPE_*`, then the `OPENAI_*` namesake, then the TOML file in the
platform's configuration folder, then the default. Relative paths in the file are taken from the file's folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import platformdirs
from msgspec import Struct

from agent_core.mark_rules import MarkRule
from agent_core.secret import Secret
from agent_core.text import well_formed
from tui.cli import MEM0_MODES
from tui.config_file import SETTINGS, ConfigError, ConfigFile, Setting, expanded
from tui.literal_text import visible_line
from tui.memory_url import fault, without_password
from tui.rule_settings import read_rules
from tui.workdir_url import WorkdirURL, is_url, parse_workdir_url

APP_NAME = "mnemoscope"
DEFAULT_USER = "default_user"
DEFAULT_GRACE = 2.0
"""The library waits for nothing; where people read along, an answer of one round should have its hint."""


class Settings(Struct, frozen=True, kw_only=True):
    """The values in effect.

    Args:
        model: the model's name; None for the endpoint's first one, or for no model at all.
        base_url: the endpoint; None for OpenAI's own.
        api_key: falsy when there is none.
        context_size: the model's window in tokens; None when nobody has said.
        workdir: the folder that the agent works in, of this machine or elsewhere; None when no home folder is known.
        data_dir: where sessions are kept; None when no home folder is known.
        memory: URL of the store that keeps the messages; None for the session file alone.
        mem0: how mem0 is used, one of `MEM0_MODES`.
        mem0_config: what mem0's own config says, stores and models of its own; empty for the usual ones.
        embedding_model: gives the vectors of facts; None for the bundled one.
        embedding_base_url: its endpoint; None for the one of the chat model.
        embedding_api_key: falsy when there is none of its own.
        retrieval_grace: seconds that an answer waits at most for what is recalled from the memory files.
        retrieval_carry_over: whether what is recalled too late goes into the next reply.
        user: whose memory it is, in stores that hold several people's.
        mark_rules: set marks on what is stored.
        theme: the name of a theme; empty for the usual one.
        path: the TOML file, whether or not there is one; None when no home folder is known.
        sources: for every setting that has a value, where it came from.
        warnings: one line each, for people.
    """

    model: str | None = None
    base_url: str | None = None
    api_key: Secret = Secret("")
    context_size: int | None = None
    workdir: Path | WorkdirURL | None = None
    data_dir: Path | None = None
    memory: str | None = None
    retrieval_grace: float = DEFAULT_GRACE
    retrieval_carry_over: bool = True
    mem0: str = "off"
    mem0_config: dict[str, Any] = {}
    embedding_model: str | None = None
    embedding_base_url: str | None = None
    embedding_api_key: Secret = Secret("")
    user: str = DEFAULT_USER
    mark_rules: tuple[MarkRule, ...] = ()
    theme: str = ""
    path: Path | None = None
    sources: dict[str, str] = {}
    warnings: tuple[str, ...] = ()

    @property
    def has_model(self) -> bool:
        """Whether a model is connected; the offline model answers otherwise."""
        return bool(self.model or self.base_url or self.api_key)

    @property
    def sessions_dir(self) -> Path | None:
        """The folder of session files; None when no home folder is known."""
        return self.data_dir / "sessions" if self.data_dir else None


def load_settings(options: Mapping[str, str | None] | None = None) -> Settings:
    """The settings in effect.

    Args:
        options: values from the command line by setting name; None or an empty text stands for not given.

    Raises:
        ConfigError: the file cannot be read, or a value is of the wrong kind.
    """
    path = _platform_folder(platformdirs.user_config_path)
    path = path / "config.toml" if path else None
    file = ConfigFile(path)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for setting in SETTINGS:
        value, source = _find(setting, options or {}, file)
        if value is not None:
            values[setting.name], sources[setting.name] = value, source
    data_dir = _folder(values.get("data_dir")) or _platform_folder(platformdirs.user_data_path)
    workdir = _workdir(values.get("workdir"), sources) or (data_dir / "workdir" if data_dir else None)
    _check(values, sources)
    return Settings(
        model=values.get("model"),
        base_url=values.get("base_url"),
        api_key=Secret(values.get("api_key", "")),
        context_size=values.get("context_size"),
        workdir=workdir,
        data_dir=data_dir,
        memory=values.get("memory"),
        retrieval_grace=values.get("retrieval_grace", DEFAULT_GRACE),
        retrieval_carry_over=values.get("retrieval_carry_over", True),
        mem0=values.get("mem0", "off"),
        mem0_config=values.get("mem0_config", {}),
        embedding_model=values.get("embedding_model"),
        embedding_base_url=values.get("embedding_base_url"),
        embedding_api_key=Secret(values.get("embedding_api_key", "")),
        user=values.get("user", DEFAULT_USER),
        mark_rules=read_rules(file, values.get("mark_rules", ())),
        theme=values.get("theme", ""),
        path=path,
        sources=sources,
        warnings=(*file.warnings, *_warnings(workdir)),
    )


def is_base_url(text: str) -> bool:
    """Whether a text can be the address of an endpoint."""
    return re.match(r"https?://[^/\s]", text) is not None


def _check(values: Mapping[str, Any], sources: Mapping[str, str]) -> None:
    """Refuse what can never work, naming where it was set."""
    for name in ("base_url", "embedding_base_url"):
        if (url := values.get(name)) and not is_base_url(url):
            what = name.replace("_", " ").replace("url", "URL")
            raise ConfigError(f"The {what} must start with http:// or https://, not {url!r} ({sources[name]}).")
    if (memory := values.get("memory")) and (wrong := fault(memory)):
        raise ConfigError(f"{wrong} ({sources['memory']}).")
    mem0 = values.get("mem0", "off")
    if mem0 not in MEM0_MODES:
        raise ConfigError(f"mem0 must be one of {', '.join(MEM0_MODES)}, not {mem0!r} ({sources['mem0']}).")


def _warnings(workdir: Path | WorkdirURL | None) -> Iterator[str]:
    if isinstance(workdir, Path) and not _is_utf8(workdir):
        yield (
            f"The path of {visible_line(str(workdir))} is not UTF-8, so no model can name files there: memories are"
            " saved by hand only. Choose another folder with --workdir."
        )


def describe(settings: Settings) -> str:
    """The settings in effect as a commented TOML file; the key is not in it."""
    missing = settings.path is not None and not settings.path.exists()
    where = visible_line(str(settings.path)) if settings.path else "none, since no home folder is known"
    lines = [
        "# Mnemoscope's settings, as they are in effect. Their file:",
        f"# {where}{' (not there yet)' if missing else ''}",
        "# An option comes first, then the environment in the order shown, then the file.",
    ]
    for setting in SETTINGS:
        also = ", ".join(filter(None, (setting.option, *setting.variables)))
        lines += ["", f"# {setting.help}", *([f"# Also: {also}"] if also else [])]
        lines.append(_assignment(setting, settings))
    return "\n".join(lines) + "\n"


def _assignment(setting: Setting, settings: Settings) -> str:
    value = getattr(settings, setting.name)
    source = settings.sources.get(setting.name, "the default")
    if isinstance(value, Secret):
        return f'# {setting.name} = "…"  # set, from {source}' if value else f"# {setting.name} = {setting.example}"
    if value in (None, "", {}, ()):
        return f"# {setting.name} = {setting.example}"
    if isinstance(value, dict):
        # It may hold passwords.
        return f"# {setting.name} = {{ … }}  # set, from {source}"
    if isinstance(value, tuple):
        return f"{setting.name} = [{', '.join(map(_rule, value))}]  # from {source}"
    if isinstance(value, bool):
        return f"{setting.name} = {str(value).lower()}  # from {source}"
    text = str(value) if isinstance(value, int | float) else _quoted(without_password(str(value)))
    hidden = ", without its password" if isinstance(value, WorkdirURL) and value.password else ""
    if not _is_utf8(value):
        return f"# {setting.name} = {text}  # from {source}; it is not UTF-8, and TOML holds nothing else"
    return f"{setting.name} = {text}  # from {source}{hidden}"


def _is_utf8(value: object) -> bool:
    """Whether a value can be told in UTF-8; names of folders may hold bytes that cannot."""
    return well_formed(str(value)) == str(value)


def _rule(rule: MarkRule) -> str:
    """A TOML inline table."""
    pairs = (("marks", rule.mark), ("role", rule.role), ("tool", rule.tool), ("pattern", rule.pattern))
    return "{ " + ", ".join(f"{name} = {_quoted(value)}" for name, value in pairs if value) + " }"


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = well_formed(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


def _find(setting: Setting, options: Mapping[str, str | None], file: ConfigFile) -> tuple[Any, str]:
    """The value of a setting and where it came from."""
    if option := options.get(setting.name):
        return option, setting.option
    for variable in setting.variables:
        if value := os.environ.get(variable, "").strip():
            return value, variable
    written = file.values.get(setting.name)
    # An empty value counts as none; zero and false do not.
    return (None if written in ("", {}, []) else written), file.place(setting.name)


def _folder(value: str | None) -> Path | None:
    return Path(os.path.abspath(expanded(value))) if value else None


def _workdir(value: str | None, sources: Mapping[str, str]) -> Path | WorkdirURL | None:
    return parse_workdir_url(value, sources["workdir"]) if value and is_url(value) else _folder(value)


def _platform_folder(of: Any) -> Path | None:
    """A folder of this platform for this program; None when it would be a stray one in the current folder."""
    try:
        path = Path(of(APP_NAME, appauthor=False))
    except RuntimeError:
        # There is no HOME, and the system does not know this user.
        return None
    return path if path.is_absolute() else None
