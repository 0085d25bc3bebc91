"""Where settings come from, and what is said when they cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest

from tui.config import Settings, describe, load_settings
from tui.config_file import SETTINGS, ConfigError

pytestmark = pytest.mark.usefixtures("home")


def test_without_anything_set_there_is_no_model_and_everything_lives_in_the_data_folder(home: Path) -> None:
    settings = load_settings()
    assert not settings.has_model
    assert settings.data_dir == home / "data" / "mnemoscope"
    assert settings.workdir == home / "data" / "mnemoscope" / "workdir"
    assert settings.sources == {}
    assert settings.warnings == ()


def test_options_come_before_our_variables_those_before_openais_and_the_file_comes_last(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('model = "from-file"\n')
    assert load_settings().model == "from-file"
    monkeypatch.setenv("OPENAI_MODEL", "from-openai")
    assert load_settings().model == "from-openai"
    monkeypatch.setenv("MNEMOSCOPE_MODEL", "from-mnemoscope")
    assert load_settings().model == "from-mnemoscope"
    settings = load_settings({"model": "from-option"})
    assert settings.model == "from-option"
    assert settings.sources["model"] == "--model"


def test_a_variable_that_is_set_but_empty_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOSCOPE_MODEL", "")
    monkeypatch.setenv("OPENAI_MODEL", "m")
    assert load_settings({"model": ""}).model == "m"


@pytest.mark.parametrize("variable", ["MNEMOSCOPE_API_KEY", "OPENAI_API_KEY"])
def test_the_key_is_in_no_repr(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "sk-secret-words")
    settings = load_settings()
    assert settings.api_key.reveal() == "sk-secret-words"
    assert settings.has_model
    assert "secret-words" not in repr(settings)
    assert "secret-words" not in describe(settings)
    assert variable in describe(settings)


def test_folders_given_as_options_are_taken_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load_settings({"workdir": ".", "data_dir": "~/kept"})
    assert settings.workdir == tmp_path
    assert settings.data_dir == Path.home() / "kept"


def test_folders_in_the_file_are_taken_from_the_files_folder(config: Path) -> None:
    config.write_text('workdir = "notes"\ndata_dir = "~/kept"\n')
    settings = load_settings()
    assert settings.workdir == config.parent / "notes"
    assert settings.data_dir == Path.home() / "kept"


@pytest.mark.parametrize("written", ["~", "$HOME", "${HOME}"])
def test_the_home_folder_may_be_written_as_in_a_shell(config: Path, written: str) -> None:
    """P16: in a file, and between single quotes, no shell expands it."""
    config.write_text(f'workdir = "{written}/notes"\n')
    settings = load_settings({"data_dir": f"{written}/kept"})
    assert settings.workdir == Path.home() / "notes"
    assert settings.data_dir == Path.home() / "kept"


@pytest.mark.parametrize("name", ["a$HOME", "notes/$x", "$5", "${HOME"])
def test_other_names_with_a_dollar_are_names(config: Path, name: str) -> None:
    config.write_text(f'workdir = "{name}"\n')
    assert load_settings().workdir == config.parent / name


def test_zero_and_false_are_values(config: Path) -> None:
    assert (load_settings().retrieval_grace, load_settings().retrieval_carry_over) == (2.0, True)
    config.write_text("retrieval_grace = 0\nretrieval_carry_over = false\n")
    settings = load_settings()
    assert (settings.retrieval_grace, settings.retrieval_carry_over) == (0.0, False)
    described = tomllib.loads(describe(settings))
    assert (described["retrieval_grace"], described["retrieval_carry_over"]) == (0.0, False)


def test_an_unknown_setting_is_a_warning_with_its_line(config: Path) -> None:
    config.write_text('model = "m"\n\nmodell = "n"\n[colours]\nname = "dark"\n')
    settings = load_settings()
    assert settings.model == "m"
    first, second = settings.warnings
    assert first.startswith(f"{config}, line 3: there is no setting 'modell'; there are model, base_url")
    assert second.startswith(f"{config}, line 4: there is no setting 'colours'")


@pytest.mark.parametrize(
    ("text", "place", "advice"),
    [
        ('model = "m"\nmodel = [', "line 2", "Mend that line"),
        ("model = 3\n", "line 1", 'model must be text in quotes, for example model = "'),
        ('\ncontext_size = "big"\n', "line 2", "context_size must be a whole number, for example context_size = "),
        ("context_size = true\n", "line 1", "must be a whole number"),
        ("context_size = 0\n", "line 1", "must be above 0"),
        ("retrieval_grace = -1\n", "line 1", "must be 0 or more, for example retrieval_grace = 2.0"),
        ("retrieval_grace = inf\n", "line 1", "must be 0 or more"),
        (f"retrieval_grace = 1{'0' * 400}\n", "line 1", "must be 0 or more"),
        (f"retrieval_grace = {'9' * 5000}\n", "config.toml", "move the file away"),
        (f"a = {'[' * 20_000}", "config.toml", "nested too deeply. Mend it"),
        ('data_dir = "a\\u0000b"\n', "line 1", "no folder can be called"),
        ("retrieval_grace = true\n", "line 1", "must be a number"),
        ("retrieval_carry_over = 1\n", "line 1", "must be true or false"),
        ("[model]\nname = 'x'\n", "line 1", "must be text in quotes"),
        ('base_url = "localhost:11434/v1"\n', "line 1", "must start with http:// or https://"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line_with_file_line_and_advice(
    config: Path, text: str, place: str, advice: str
) -> None:
    config.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    message = str(caught.value)
    assert str(config) in message
    assert place in message
    assert advice in message
    assert "\n" not in message


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(config: Path) -> None:
    config.write_bytes(b'\xef\xbb\xbfmodel = "m"\r\n\r\nbogus = 1\r\n')
    settings = load_settings()
    assert settings.model == "m"
    assert "line 3" in settings.warnings[0]


def test_a_file_that_is_not_utf_8_is_one_line_with_the_line(config: Path) -> None:
    config.write_bytes(b'model = "m"\nbase_url = "http://caf\xe9"\n')
    with pytest.raises(ConfigError, match="line 2: not UTF-8"):
        load_settings()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions on Windows")
def test_a_key_that_others_can_read_is_warned_about(config: Path) -> None:
    config.write_text('api_key = "sk-x"\n')
    config.chmod(0o644)
    assert "chmod 600" in load_settings().warnings[0]
    config.chmod(0o600)
    assert load_settings().warnings == ()


def test_the_description_is_toml_that_gives_the_same_settings_again(config: Path) -> None:
    config.write_text('model = "a \\"quoted\\" one"\nworkdir = "/tmp/w\\\\x\\u0007"\ncontext_size = 4096\n')
    settings = load_settings()
    table = tomllib.loads(describe(settings))
    assert table["model"] == settings.model
    assert table["context_size"] == 4096
    assert table["workdir"] == str(settings.workdir)
    config.write_text(describe(settings))
    again = load_settings()
    assert (again.model, again.workdir, again.data_dir) == (settings.model, settings.workdir, settings.data_dir)


def test_what_is_not_utf_8_is_told_and_leaves_the_description_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    home = os.fsdecode(b"/caf\xe9\nx = 1")
    monkeypatch.setenv("XDG_CONFIG_HOME", home)
    monkeypatch.setenv("MNEMOSCOPE_MODEL", os.fsdecode(b"m\xff"))
    settings = load_settings({"workdir": home, "user": "Ana"})
    described = describe(settings)
    table = tomllib.loads(described.encode().decode())
    assert (table["user"], "workdir" in table, "model" in table, "x" in table) == ("Ana", False, False, False)
    assert '# workdir = "/caf\ufffd\\U0000000ax = 1"  # from --workdir; it is not UTF-8' in described
    assert "/caf\ufffd\u240ax = 1 is not UTF-8" in settings.warnings[0]


def test_the_description_names_every_setting_and_where_else_it_can_be_set(home: Path) -> None:
    text = describe(Settings())
    for setting in SETTINGS:
        assert setting.name in text
        assert setting.option in text
        assert all(variable in text for variable in setting.variables)


@pytest.mark.skipif(sys.platform == "win32", reason="HOME means nothing on Windows")
def test_a_user_whom_the_system_does_not_know_has_no_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """P16: as in a container that is run for some number of a user."""

    def unknown(uid: int) -> NoReturn:
        raise KeyError(uid)

    for name in [name for name in os.environ if name == "HOME" or name.startswith("XDG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    settings = load_settings()
    assert (settings.path, settings.data_dir, settings.workdir) == (None, None, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
@pytest.mark.timeout(10)
def test_a_fifo_in_place_of_the_file_is_not_waited_for(config: Path) -> None:
    os.mkfifo(config)
    with pytest.raises(ConfigError, match="not a regular file"):
        load_settings()


@pytest.mark.skipif(sys.platform == "win32", reason="HOME means nothing on Windows")
@pytest.mark.parametrize("home", [None, "", "${HOME}", "relative"])
def test_without_a_usable_home_no_stray_folder_is_meant(home: str | None, tmp_path: Path) -> None:
    """P16: HOME unset or nonsense gives the real home or none at all, never a folder in the current one."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("XDG_") and key != "HOME"}
    environ["PYTHONPATH"] = os.getcwd()
    if home is not None:
        environ["HOME"] = home
    program = "from tui.config import load_settings as l; s = l(); print(s.data_dir, s.workdir, s.path, sep='\\n')"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    for line in answer.stdout.splitlines():
        assert line == "None" or Path(line).is_absolute()
        assert not line.startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "path", ["~nobody-of-this-name/x", "${NOBODY_SET_THIS}/x", "$NOBODY_SET_THIS", "${}/x", "$EMPTY/x"]
)
def test_a_home_that_nobody_knows_is_an_error_and_not_a_folder_of_that_name(
    path: str, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P16."""
    monkeypatch.setenv("EMPTY", "relative")
    with pytest.raises(ConfigError, match="write the whole path"):
        load_settings({"workdir": path})
    config.write_text(f'data_dir = "{path}"\n')
    with pytest.raises(ConfigError, match="write the whole path"):
        load_settings()
