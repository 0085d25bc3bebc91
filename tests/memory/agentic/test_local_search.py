"""Local search over a memory folder: what is found, and what is read for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memory.agentic.folder import MemoryFolder
from memory.agentic.local_search import LocalSearch
from memory.agentic.parameters import Parameters
from memory.search import Embedder, Loaded, VectorCache
from tests.cancelling import cancel
from tests.memory.agentic.folders import CountingBackend, age, folder_in, save
from tests.memory.search.embedders import Meanings


async def found(folder: MemoryFolder, search: LocalSearch, question: str) -> list[str]:
    files = (await folder.scan()).files
    return [one.file.relative for one in await search.rank(question, files, 5)]


async def embedded(search: LocalSearch) -> None:
    assert search._search is not None
    assert await asyncio.to_thread(search._search.wait_embedded, 60)


def searching(
    workdir: Path, embedder: Embedder | None = None, cache: VectorCache | None = None
) -> tuple[CountingBackend, MemoryFolder, LocalSearch]:
    backend = CountingBackend()
    folder = folder_in(workdir, backend)
    return backend, folder, LocalSearch(folder, (lambda: Loaded(embedder)) if embedder else None, cache)


@pytest.mark.parametrize("question", ["which teapot?", "pottery", "clay brown", "the chipped spout", "kitchen things"])
async def test_name_path_description_and_the_whole_body_count(tmp_path: Path, question: str) -> None:
    filler = "A line about something else entirely.\n" * 2_000
    save(tmp_path, "kitchen/things_of_pottery.md", f"{filler}Its spout is chipped.", description="a brown clay teapot")
    save(tmp_path, "home.md", "Hangzhou.")
    _, folder, search = searching(tmp_path)
    assert await found(folder, search, question) == ["kitchen/things_of_pottery.md"]


async def test_chinese_is_found(tmp_path: Path) -> None:
    save(tmp_path, "tea.md", "每天下午四点喝乌龙茶。", description="饮食习惯")
    save(tmp_path, "home.md", "住在杭州。", description="住处")
    _, folder, search = searching(tmp_path)
    assert await found(folder, search, "他几点喝乌龙茶?") == ["tea.md"]
    assert await found(folder, search, "有什么饮食习惯?") == ["tea.md"]


async def test_the_oldest_of_twenty_thousand_files_is_found(tmp_path: Path) -> None:
    save(tmp_path, "old.md", "The safe opens with the birthday of Aunt Olga.", days_old=4_000)
    for number in range(19_999):
        path = tmp_path / "Memory" / f"note{number}.md"
        path.write_text(f"Note {number}: a meeting, an open task, a birthday.")
    _, folder, search = searching(tmp_path)
    assert (await found(folder, search, "how do I open the safe?"))[0] == "old.md"


async def test_a_file_is_read_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    paths = [save(tmp_path, f"{number}.md", "coffee") for number in range(3)]
    backend, folder, search = searching(tmp_path)
    assert await found(folder, search, "tea") == []
    await folder.scan()
    backend.reads.clear()
    assert await found(folder, search, "tea") == []
    assert backend.reads == []
    paths[0].unlink()
    age(save(tmp_path, "1.md", "sencha tea"), 1)
    assert await found(folder, search, "tea") == ["1.md"]
    assert backend.reads == ["1.md", "1.md"]  # once by the scan, once by the search
    assert await found(folder, search, "coffee") == ["2.md"]


async def test_two_searches_at_once_share_the_reading(tmp_path: Path) -> None:
    for number in range(200):
        save(tmp_path, f"{number}.md", "tea")
    backend, folder, search = searching(tmp_path)
    files = (await folder.scan()).files
    backend.reads.clear()
    await asyncio.gather(search.rank("tea", files, 5), search.rank("tea", files, 5))
    assert len(backend.reads) == 200


async def test_what_was_not_read_because_of_a_cancellation_is_read_next_time(tmp_path: Path) -> None:
    save(tmp_path, "tea.md", "oolong")
    reading, go_on = asyncio.Event(), asyncio.Event()

    class Slow(CountingBackend):
        async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
            reading.set()
            await go_on.wait()
            return await super().read_file(path, limit=limit, follow=follow)

    files = (await folder_in(tmp_path).scan()).files
    search = LocalSearch(folder_in(tmp_path, Slow()))
    first = asyncio.create_task(search.rank("oolong", files, 5))
    await reading.wait()
    await cancel(first)
    go_on.set()
    assert len(await search.rank("oolong", files, 5)) == 1


async def test_a_file_that_cannot_be_read_now_goes_by_its_listing_and_is_tried_again(tmp_path: Path) -> None:
    save(tmp_path, "tea.md", "First line.\n\nOolong.", description="hot drinks")
    is_broken = True

    class Broken(CountingBackend):
        async def read_file(self, path: str, *, limit: int | None = None, follow: bool = True) -> bytes:
            if is_broken:
                raise OSError("no")
            return await super().read_file(path, limit=limit, follow=follow)

    files = (await folder_in(tmp_path).scan()).files
    search = LocalSearch(folder_in(tmp_path, Broken()))
    assert len(await search.rank("hot drinks, first of all", files, 5)) == 1
    assert await search.rank("oolong", files, 5) == []
    is_broken = False
    assert len(await search.rank("oolong", files, 5)) == 1


async def test_a_link_swapped_in_after_the_scan_is_not_read(tmp_path: Path) -> None:
    """X03."""
    (tmp_path / "secret.md").write_text("the secret word is oolong")
    path = save(tmp_path, "tea.md", "green")
    _, folder, search = searching(tmp_path)
    files = (await folder.scan()).files
    path.unlink()
    path.symlink_to(tmp_path / "secret.md")
    assert await search.rank("oolong", files, 5) == []


async def test_meaning_finds_what_shares_no_word(tmp_path: Path) -> None:
    save(tmp_path, "pets.md", "Two budgerigars.")
    save(tmp_path, "home.md", "A flat.")
    embedder = Meanings({"budgerigars": "bird", "parrots": "bird", "flat": "house"})
    _, folder, search = searching(tmp_path, embedder)
    files = (await folder.scan()).files
    await search.rank("parrots", files, 5)
    await embedded(search)
    hits = await search.rank("parrots", files, 5)
    assert [(hit.file.relative, hit.is_related) for hit in hits] == [("pets.md", True), ("home.md", False)]
    search.close()


async def test_vectors_outlive_the_program(tmp_path: Path) -> None:
    save(tmp_path, "pets.md", "Two budgerigars.")
    for expected in [[], ["pets.md"]]:
        embedder = Meanings({"budgerigars": "bird", "parrots": "bird"})
        embedder.is_open.clear()
        _, folder, search = searching(tmp_path, embedder, VectorCache(tmp_path / "vectors.db"))
        first = asyncio.create_task(found(folder, search, "parrots"))
        if not expected:
            assert await first == expected
        embedder.is_open.set()
        assert await first == expected
        await embedded(search)
        search.close()


async def test_what_search_by_meaning_lacks_is_remarked(tmp_path: Path) -> None:
    save(tmp_path, "pets.md", "Two budgerigars.")
    embedder = Meanings({"budgerigars": "bird"})
    embedder.is_open.clear()
    _, folder, search = searching(tmp_path, embedder)
    assert search.remark == ""
    await found(folder, search, "parrots")
    assert search.remark == "0 of 1 files by meaning so far"
    embedder.is_open.set()
    await embedded(search)
    assert search.remark == ""
    search.close()


async def test_parameters_say_what_it_searches_by(tmp_path: Path) -> None:
    save(tmp_path, "pets.md", "Two budgerigars.")
    folder = folder_in(tmp_path)
    embedder = Meanings({"budgerigars": "bird"})
    for wanted, embedded_files in [(None, 0), (embedder, 1)]:
        search = LocalSearch.of(folder, Parameters(retrieval_embedder=wanted))
        assert await found(folder, search, "budgerigars") == ["pets.md"]
        await embedded(search)
        assert search._search.progress().embedded == embedded_files
        assert search.remark == ""
        search.close()


async def test_without_an_embedder_the_reason_is_remarked(tmp_path: Path) -> None:
    save(tmp_path, "pets.md", "Two budgerigars.")
    folder = folder_in(tmp_path)
    search = LocalSearch(folder, lambda: Loaded(None, "the bundled embedder is not installed"))
    assert await found(folder, search, "budgerigars") == ["pets.md"]
    assert search.remark == "by words alone: the bundled embedder is not installed"
