"""What goes wrong is written down in a file, never on the screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tui.config import Settings
from tui.log import log_path, write_down


def broken() -> ZeroDivisionError:
    try:
        1 / 0  # noqa: B018 - that it fails is the point
    except ZeroDivisionError as error:
        return error
    raise AssertionError


def test_errors_are_appended_with_their_traceback(tmp_path: Path) -> None:
    path = tmp_path / "new" / "mnemoscope.log"
    assert write_down(broken(), path) == path
    assert write_down(ValueError("lone \ud83d surrogate"), path) == path
    text = path.read_text()
    assert "1 / 0" in text
    assert "lone \\ud83d surrogate" in text


def test_where_the_log_cannot_be_written_a_temporary_file_takes_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = write_down(broken(), tmp_path / "file" / "mnemoscope.log")
    assert "ZeroDivisionError" in place.read_text()
    place.unlink()


def test_a_fifo_in_place_of_the_log_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mnemoscope.log")
    place = write_down(broken(), tmp_path / "mnemoscope.log")
    assert "ZeroDivisionError" in place.read_text()
    place.unlink()


def test_the_log_lies_in_the_data_folder_and_without_one_in_the_temporary_one(tmp_path: Path) -> None:
    assert log_path(Settings(data_dir=tmp_path)) == tmp_path / "mnemoscope.log"
    assert log_path(Settings()).is_absolute()


def test_warnings_go_to_the_file_and_a_file_that_cannot_be_made_is_no_noise(tmp_path: Path) -> None:
    program = (
        "import logging, sys; from pathlib import Path; from tui.log import log_warnings_to\n"
        "log_warnings_to(Path(sys.argv[1]))\n"
        "logging.getLogger('x').info('quiet'); logging.getLogger('x').warning('loud')"
    )
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "new" / "a.log", tmp_path / "file" / "b.log"):
        answer = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    text = (tmp_path / "new" / "a.log").read_text()
    assert "WARNING x: loud" in text
    assert "quiet" not in text
