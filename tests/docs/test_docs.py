"""The documentation says what is so: examples run, links lead somewhere, nothing that one can set is missing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tui.commands import slash_commands
from tui.config_file import SETTINGS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
DOCS = "\n".join(page.read_text() for page in PAGES)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["write-a-middleware", "write-a-backend"])
def test_the_example_prints_what_the_page_says(name: str) -> None:
    page = ROOT / "docs" / f"{name}.md"
    (program,), (expected,) = blocks(page, "python"), blocks(page, "text")
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.stderr == ""
    assert answer.stdout == expected


def test_the_example_of_a_settings_file_holds_settings_that_there_are() -> None:
    (example,) = blocks(ROOT / "docs" / "configuration.md", "toml")
    kinds = {setting.name: setting.kind for setting in SETTINGS}
    for name, value in tomllib.loads(example).items():
        assert isinstance(value, kinds[name])


def test_every_setting_is_described_with_its_option_and_its_variables() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    for setting in SETTINGS:
        for word in (setting.name, setting.option, *setting.variables):
            assert word in text


def test_the_slash_commands_that_are_mentioned_are_there() -> None:
    mentioned = set(re.findall(r"(?<![\w/.`-])`?/([a-z]+)(?=[ `\n.,;])", DOCS))
    assert mentioned
    assert mentioned <= set(slash_commands())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), target
