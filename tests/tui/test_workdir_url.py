"""Workdirs that are elsewhere, as they are typed, and as they are shown: never with the password."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from tui.config import describe, load_settings
from tui.config_file import ConfigError
from tui.workdir_url import WorkdirURL, parse_workdir_url

pytestmark = pytest.mark.usefixtures("home")
PASSWORD = "s3cr3t:/@#?%pässwörd"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sftp://example.org/home/ana/notes", ("sftp", "", "example.org", None, "/home/ana/notes")),
        ("sftp://ana@example.org:2222/notes/", ("sftp", "ana", "example.org", 2222, "/notes")),
        ("SFTP://ana@Example.org", ("sftp", "ana", "Example.org", None, "~")),
        ("sftp://ana@[::1]:22/~/my notes", ("sftp", "ana", "::1", 22, "~/my notes")),
        ("sftp://a%40b@example.org/%E4%B8%AD%23%3F", ("sftp", "a@b", "example.org", None, "/中#?")),
        ("sftp://example.org/", ("sftp", "", "example.org", None, "/")),
        ("s3://bucket", ("s3", "", "bucket", None, "/bucket")),
        ("s3://bucket/a/b c#1/", ("s3", "", "bucket", None, "/bucket/a/b c#1")),
        ("memory://", ("memory", "", "", None, "/")),
        ("memory://notes/a", ("memory", "", "", None, "/notes/a")),
        ("docker://My_Container/srv/notes", ("docker", "", "My_Container", None, "/srv/notes")),
        ("docker://web", ("docker", "", "web", None, "~")),
        ("e2b://i1a2b3c4/home/user", ("e2b", "", "i1a2b3c4", None, "/home/user")),
    ],
)
def test_what_is_typed_is_understood_and_reads_back(text: str, expected: tuple[object, ...]) -> None:
    url = parse_workdir_url(text, "--workdir")
    assert (url.scheme, url.user, url.host, url.port, url.path) == expected
    again = parse_workdir_url(str(url), "")
    assert (again.scheme, again.user, again.host, again.port, again.path) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"sftp://ana:{quote(PASSWORD, safe='')}@/notes",
        f"sftp://ana:{quote(PASSWORD, safe='')}@host:port/notes",
        f"s3://ana:{quote(PASSWORD, safe='')}@bucket/notes",
        f"ftp://ana:{quote(PASSWORD, safe='')}@host/notes",
        f"sftp://ana:{quote(PASSWORD, safe='')}@[::1/notes",
        "s3://",
        "docker:///notes",
        "e2b://",
        "docker://web:80/notes",
        "sftp://host/nul%00",
    ],
)
def test_what_cannot_be_is_refused_in_one_line_without_the_password(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings({"workdir": text})
    told = str(caught.value)
    assert "--workdir" in told
    assert "\n" not in told
    assert PASSWORD not in told
    assert quote(PASSWORD, safe="") not in told


def test_the_password_is_known_and_shown_nowhere() -> None:
    text = f"sftp://ana:{quote(PASSWORD, safe='')}@example.org/notes"
    settings = load_settings({"workdir": text})
    url = settings.workdir
    assert isinstance(url, WorkdirURL)
    assert url.password.reveal() == PASSWORD
    for shown in (str(url), repr(url), repr(settings), describe(settings), url.place):
        assert PASSWORD not in shown
        assert quote(PASSWORD, safe="") not in shown
    assert 'workdir = "sftp://ana@example.org/notes"  # from --workdir, without its password' in describe(settings)


def test_a_url_in_the_file_is_not_a_folder_beside_it(config: Path) -> None:
    config.write_text('workdir = "s3://bucket/notes"\n')
    assert str(load_settings().workdir) == "s3://bucket/notes"
