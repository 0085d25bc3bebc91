"""Vectors kept on disk: found again, by whomever; never an error."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory.search.vector_cache import VectorCache, digest_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "vectors.db"


@pytest.fixture
def cache(path: Path) -> Iterator[VectorCache]:
    cache = VectorCache(path)
    yield cache
    cache.close()


def kept(cache: VectorCache, *texts: str, model: str = "m") -> dict[str, list[float]]:
    return {text: list(vector) for text, vector in cache.get(model, texts).items()}


def reopened(path: Path, *texts: str) -> dict[str, list[float]]:
    cache = VectorCache(path)
    found = kept(cache, *texts)
    cache.close()
    return found


def test_what_was_kept_is_found_in_the_next_run(cache: VectorCache, path: Path) -> None:
    cache.put("m", {"tea": [1.0, 0.5], "lone \ud800": [0.0, 2.0]})
    cache.close()
    assert reopened(path, "tea", "lone \ud800", "coffee") == {"tea": [1.0, 0.5], "lone \ud800": [0.0, 2.0]}


def test_models_do_not_mix(cache: VectorCache) -> None:
    cache.put("m", {"tea": [1.0]})
    cache.put("n", {"tea": [2.0]})
    assert kept(cache, "tea", model="m") == {"tea": [1.0]}
    assert kept(cache, "tea", model="n") == {"tea": [2.0]}
    assert kept(cache, "tea", model="o") == {}


def test_what_is_discarded_is_gone_for_all_models(cache: VectorCache, path: Path) -> None:
    cache.put("m", {"tea": [1.0], "coffee": [3.0]})
    cache.put("n", {"tea": [2.0]})
    cache.discard([digest_of("tea"), digest_of("milk")])
    assert kept(cache, "tea", "coffee") == {"coffee": [3.0]}
    assert kept(cache, "tea", model="n") == {}


def test_all_but_some_may_be_dropped(cache: VectorCache) -> None:
    cache.put("m", {f"text {number}": [float(number)] for number in range(1_000)})
    cache.keep_only([digest_of("text 3"), digest_of("text 7"), digest_of("other")])
    assert set(kept(cache, *(f"text {number}" for number in range(1_000)))) == {"text 3", "text 7"}
    cache.keep_only([])
    assert kept(cache, "text 3") == {}


def test_thousands_at_once(cache: VectorCache) -> None:
    vectors = {f"text {number}": [float(number)] for number in range(5_000)}
    cache.put("m", vectors)
    assert kept(cache, *vectors) == vectors


def test_texts_are_not_in_the_file_and_nobody_else_may_read_it(cache: VectorCache, path: Path) -> None:
    cache.put("m", {"a secret text": [1.0]})
    cache.close()
    assert b"secret" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"this is no database" * 200, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_file_is_set_aside(cache: VectorCache, path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert kept(cache, "tea") == {}
    cache.put("m", {"tea": [1.0]})
    assert kept(cache, "tea") == {"tea": [1.0]}
    assert path.with_name("vectors.db.bad-1").read_bytes() == content


def test_damage_inside_is_noticed_when_it_is_met(path: Path) -> None:
    cache = VectorCache(path)
    cache.put("m", {f"text {number}": [float(number)] * 300 for number in range(500)})
    cache.close()
    pages = bytearray(path.read_bytes())
    pages[4_096:] = b"\xab" * (len(pages) - 4_096)
    path.write_bytes(bytes(pages))
    assert reopened(path, *(f"text {number}" for number in range(500))) == {}
    assert path.with_name("vectors.db.bad-1").exists()


def test_a_file_of_another_version_is_set_aside(cache: VectorCache, path: Path) -> None:
    path.parent.mkdir()
    for _ in range(2):
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE IF NOT EXISTS other (x)")
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
        connection.close()
        assert reopened(path, "tea") == {}
    cache.put("m", {"tea": [1.0]})
    assert kept(cache, "tea") == {"tea": [1.0]}
    assert sorted(file.name for file in path.parent.glob("*.bad-*")) == ["vectors.db.bad-1", "vectors.db.bad-2"]


def test_a_place_where_nothing_can_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = VectorCache(tmp_path / "file" / "vectors.db")
    cache.put("m", {"tea": [1.0]})
    assert kept(cache, "tea") == {}
    in_place_of_the_file = VectorCache(tmp_path)
    in_place_of_the_file.put("m", {"tea": [1.0]})
    assert kept(in_place_of_the_file, "tea") == {}
    assert os.listdir(tmp_path) == ["file"]


def test_after_closing_nothing_is_found_and_nothing_made(cache: VectorCache, path: Path) -> None:
    cache.close()
    cache.put("m", {"tea": [1.0]})
    assert kept(cache, "tea") == {}
    assert not path.exists()


def test_several_threads_may_use_it(cache: VectorCache) -> None:
    def use(number: int) -> dict[str, list[float]]:
        cache.put("m", {f"text {number}": [float(number)]})
        return kept(cache, f"text {number}")

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(use, range(100)))
    assert results == [{f"text {number}": [float(number)]} for number in range(100)]


def test_several_programs_may_use_it(cache: VectorCache, path: Path) -> None:
    """P06."""
    code = """
import sys
from memory.search.vector_cache import VectorCache, digest_of
cache = VectorCache(sys.argv[1])
for number in range(100):
    cache.put("m", {f"{sys.argv[2]} {number}": [float(number)]})
cache.close()
"""
    programs = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("a", "b", "c")]
    assert [program.wait() for program in programs] == [0, 0, 0]
    texts = [f"{name} {number}" for name in "abc" for number in range(100)]
    assert len(kept(cache, *texts)) == 300
