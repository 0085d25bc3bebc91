"""Facts in a store that the settings file names, from the command line: for who outgrows one machine."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.databases import postgresql_url
from tests.fake_server import FakeServer, serving_in_thread
from tui.__main__ import main

os.environ.setdefault("MEM0_TELEMETRY", "False")
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mnemoscope-mem0-"))


@pytest.fixture(params=["pgvector", "qdrant"])
def store(request: pytest.FixtureRequest, home: Path) -> Iterator[None]:
    """A settings file as docs/facts-with-mem0.md has it."""
    config = {"collection_name": f"facts_{uuid4().hex}"}
    if request.param == "pgvector":
        config["connection_string"] = postgresql_url().replace("+asyncpg", "")
    else:
        config["path"] = str(home / "qdrant")
    with serving_in_thread(FakeServer()) as server:
        lines = ['embedding_model = "e"', f'embedding_base_url = "{server.base_url}"', "[mem0_config.vector_store]"]
        lines += [f'provider = "{request.param}"', "[mem0_config.vector_store.config]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in config.items()]
        file = home / "config" / "mnemoscope" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text("\n".join(lines))
        yield


@pytest.mark.usefixtures("store")
def test_facts_are_kept_found_replaced_told_and_forgotten_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def facts(*words: str) -> list[Any]:
        capsys.readouterr()
        assert main(["facts", *words, "--json"]) == 0
        out, err = capsys.readouterr()
        assert not err
        return [json.loads(line) for line in out.splitlines()]

    facts("add", "Ana is allergic to nuts")
    facts("add", "I live in Oslo")
    (added,) = facts("add", "I live in Rome")
    assert [change["action"] for change in added["changes"]] == ["added", "superseded"]
    found = facts("search", "Ana is allergic to nuts")
    assert found[0]["text"] == "Ana is allergic to nuts"
    assert [row["event"] for row in facts("history", found[0]["id"][:8])] == ["add"]
    facts("delete", found[0]["id"])
    assert main(["ask", "--mem0", "both", "remember that I play the cello"]) == 0
    assert main(["ask", "--mem0", "both", "which instrument do I play?"]) == 0
    assert "I play the cello" in capsys.readouterr().out.split("Saved")[1]
    assert len(facts("list")) == 3
    (forgotten,) = facts("forget", "--yes")
    assert forgotten["facts"]["memories"] == 3
    assert not forgotten["left"]
    assert facts("list") == []
    assert not (home / "data" / "mnemoscope" / "mem0" / "memory.db").exists()
