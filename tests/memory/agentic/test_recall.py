"""From a question to memories: scan, search, select, read."""

from __future__ import annotations

import pydoc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import ModelUnreachable, StructuredOutputError
from agent_core.event import RecalledMemory
from agent_core.message import Msg
from agent_core.model.scripted_model import ObjectMaker, PlainObject, ScriptedChatModel
from memory.agentic.local_search import LocalSearch
from memory.agentic.parameters import Parameters
from memory.agentic.recall import Recall
from tests.memory.agentic.folders import CountingBackend, folder_in, put, save


class Asked:
    """One recall: its model, what it gave, its stages."""

    def __init__(self, *answers: PlainObject | ObjectMaker, **limits: Any) -> None:
        self.model = ScriptedChatModel([], structured=answers)
        self.parameters = Parameters(**limits)
        self.stages: dict[str, str] = {}

    async def about(self, workdir: Path, question: str = "what do I drink?") -> tuple[RecalledMemory, ...]:
        folder = folder_in(workdir)
        return await Recall(folder, LocalSearch(folder), self.parameters, self.model, self._on_stage).find(question)

    @property
    def offered(self) -> list[str]:
        """The names on the list that the model chose from."""
        text = self.model.requests[0].messages[-1].get_text_content() or ""
        return [line.split()[2] for line in text.split("\n") if line.startswith("- [")]

    def _on_stage(self, stage: str, seconds: float, detail: str) -> None:
        assert seconds >= 0
        self.stages[stage] = detail


def pick(*names: str) -> dict[str, Any]:
    return {"selected_files": list(names)}


async def test_the_model_chooses_and_the_chosen_files_are_read(tmp_path: Path) -> None:
    path = save(tmp_path, "tea.md", "Oolong, at four.", description="what the user drinks")
    save(tmp_path, "home.md", "Hangzhou.", description="where the user lives")
    asked = Asked(pick("tea.md"))
    (memory,) = await asked.about(tmp_path)
    assert memory.path == str(path.resolve())
    assert memory.text.startswith("Memory saved 2")
    assert memory.text.endswith(" (today) from tea.md:\nOolong, at four.")
    assert memory.reason == "chosen by scripted"
    assert list(asked.stages) == ["scan", "select", "read"]
    assert asked.stages["scan"] == "2 files, 2 read"
    assert asked.stages["select"].startswith("1 of 2 files chosen: tea.md; ")
    assert asked.stages["read"] == "tea.md"


async def test_without_files_no_model_is_asked(tmp_path: Path) -> None:
    put(tmp_path, "MEMORY.md", "- [A](a.md)")
    asked = Asked()
    assert await asked.about(tmp_path) == ()
    assert asked.model.requests == []
    assert asked.stages == {"scan": "0 files, 0 read"}


async def test_nothing_chosen_is_nothing_found(tmp_path: Path) -> None:
    save(tmp_path, "tea.md")
    asked = Asked(pick())
    assert await asked.about(tmp_path) == ()
    assert asked.stages["select"].startswith("0 of 1 file chosen")


async def test_what_may_not_be_read_is_not_offered(tmp_path: Path) -> None:
    """F25, X03."""
    save(tmp_path, "tea.md")
    put(tmp_path, "pic.md", b"\x89PNG\0")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "Memory/link.md").symlink_to("../secret")
    asked = Asked(pick("pic.md", "link.md", "tea.md", "MEMORY.md"))
    assert [memory.path[-6:] for memory in await asked.about(tmp_path)] == ["tea.md"]
    assert asked.offered == ["tea.md"]
    assert "not on the list, left out: pic.md, link.md, MEMORY.md" in asked.stages["select"]


async def test_the_oldest_of_many_files_is_found(tmp_path: Path) -> None:
    for number in range(30):
        save(tmp_path, f"note{number}.md", f"Note {number}.", description=f"meeting {number}", days_old=number)
    save(tmp_path, "tea.md", "Oolong.", description="which tea the user drinks", days_old=400)
    asked = Asked(pick("tea.md"), retrieval_max_files=10)
    (memory,) = await asked.about(tmp_path, "which tea do I drink?")
    assert memory.text.endswith("Oolong.")
    assert asked.offered == ["tea.md", *(f"note{number}.md" for number in range(9))]
    assert list(asked.stages) == ["scan", "search", "select", "read"]
    assert asked.stages["search"] == "10 files for the model to choose from"


async def test_the_newest_files_are_offered_where_the_words_say_nothing(tmp_path: Path) -> None:
    for number in range(5):
        save(tmp_path, f"note{number}.md", description="x", days_old=number)
    asked = Asked(pick(), retrieval_max_files=2)
    await asked.about(tmp_path, "?")
    assert asked.offered == ["note0.md", "note1.md"]


async def test_zero_offers_nothing_and_none_everything(tmp_path: Path) -> None:
    for number in range(250):
        save(tmp_path, f"{number}.md")
    nothing = Asked(retrieval_max_files=0)
    assert await nothing.about(tmp_path) == ()
    assert nothing.model.requests == []
    everything = Asked(pick(), retrieval_max_files=None)
    await everything.about(tmp_path)
    assert len(everything.offered) == 250


async def test_a_model_that_gives_no_list_is_replaced_by_local_search(tmp_path: Path) -> None:
    save(tmp_path, "tea.md", "Oolong.", description="what the user drinks")
    save(tmp_path, "home.md", "Hangzhou.", description="where the user lives")
    for refusal in [StructuredOutputError("no JSON object"), {"selected_files": "tea.md"}]:
        asked = Asked(refusal)
        (memory,) = await asked.about(tmp_path)
        assert memory.text.endswith("Oolong.")
        assert memory.reason == "found by local search: shares drink"
        assert memory.score is not None
        assert asked.stages["select"].startswith("local search instead of scripted: ")
        assert asked.stages["search"] == "1 of 2 files found"


async def test_a_model_that_cannot_be_asked_is_an_error(tmp_path: Path) -> None:
    save(tmp_path, "tea.md")
    with pytest.raises(ModelUnreachable, match="no server"):
        await Asked(ModelUnreachable("no server")).about(tmp_path)


async def test_where_no_model_is_to_be_asked_local_search_chooses_alone(tmp_path: Path) -> None:
    save(tmp_path, "tea.md", "Oolong, at four.", description="what is in the cup")
    save(tmp_path, "home.md", "Hangzhou.", description="where the user lives")
    asked = Asked(retrieval_selector="local")
    (memory,) = await asked.about(tmp_path, "when is my oolong ready?")
    assert memory.text.endswith("Oolong, at four.")
    assert memory.reason == "found by local search: shares oolong"
    assert memory.score == 1.0
    assert asked.model.requests == []
    assert list(asked.stages) == ["scan", "search", "read"]
    assert asked.stages["search"] == "1 of 2 files found"
    assert await asked.about(tmp_path, "tell me a joke") == ()


async def test_local_search_recalls_as_many_files_as_a_model_may(tmp_path: Path) -> None:
    for number in range(9):
        save(tmp_path, f"{number}.md", "tea")
    assert len(await Asked(retrieval_selector="local").about(tmp_path, "tea?")) == 5


async def test_local_search_stands_in_over_all_files_not_only_over_those_offered(tmp_path: Path) -> None:
    for number in range(6):
        save(tmp_path, f"note{number}.md", "Oolong tea.", description="tea", days_old=number)
    asked = Asked(StructuredOutputError("no JSON object"), retrieval_max_files=2)
    assert len(await asked.about(tmp_path, "tea?")) == 5


async def test_the_newest_have_a_share_of_what_is_offered(tmp_path: Path) -> None:
    for number in range(12):
        save(tmp_path, f"note{number}.md", "tea" if number else "coffee", days_old=number)
    asked = Asked(pick(), retrieval_max_files=8)
    await asked.about(tmp_path, "tea?")
    assert len(asked.offered) == 8
    assert asked.offered[6:] == ["note0.md", "note7.md"]


async def test_pinned_memories_come_first_and_take_nobodys_place(tmp_path: Path) -> None:
    put(tmp_path, "rule.md", "---\nname: rule\npinned: true\n---\nAlways be brief.")
    for number in range(6):
        save(tmp_path, f"{number}.md", "tea")
    asked = Asked(pick("4.md", "rule.md"))
    memories = await asked.about(tmp_path)
    assert [(memory.path[-7:], memory.reason) for memory in memories] == [
        ("rule.md", "pinned"),
        ("ry/4.md", "chosen by scripted"),
    ]
    assert "rule.md" not in asked.offered
    assert len(await Asked(retrieval_selector="local").about(tmp_path, "tea?")) == 6
    assert len(await Asked(pick()).about(tmp_path, "hello")) == 1


async def test_with_nothing_but_pinned_memories_no_model_is_asked(tmp_path: Path) -> None:
    put(tmp_path, "rule.md", "---\npinned: yes\n---\nAlways be brief.")
    asked = Asked()
    assert len(await asked.about(tmp_path)) == 1
    assert asked.model.requests == []


async def test_another_model_may_choose(tmp_path: Path) -> None:
    save(tmp_path, "tea.md", "Oolong.")
    small = ScriptedChatModel([], structured=[pick("tea.md")], model="small")
    asked = Asked(retrieval_model=small)
    (memory,) = await asked.about(tmp_path)
    assert memory.reason == "chosen by small"
    assert asked.model.requests == []


async def test_a_file_that_goes_before_it_is_read_costs_only_itself(tmp_path: Path) -> None:
    save(tmp_path, "tea.md", "Oolong.")
    gone = save(tmp_path, "gone.md")

    def choose(messages: Sequence[Msg], schema: Mapping[str, Any]) -> PlainObject:
        gone.unlink()
        return pick("gone.md", "tea.md")

    asked = Asked(choose)
    assert len(await asked.about(tmp_path)) == 1
    assert asked.stages["read"].startswith("gone.md could not be read: ")


async def test_a_link_swapped_in_after_the_scan_is_not_followed(tmp_path: Path) -> None:
    """X03."""
    (tmp_path / "secret").write_text("secret")
    swapped = save(tmp_path, "tea.md")

    def choose(messages: Sequence[Msg], schema: Mapping[str, Any]) -> PlainObject:
        swapped.unlink()
        swapped.symlink_to(tmp_path / "secret")
        return pick("tea.md")

    assert await Asked(choose).about(tmp_path) == ()


async def test_a_long_memory_is_cut_visibly(tmp_path: Path) -> None:
    save(tmp_path, "long.md", "A line of the memory.\n" * 2_000)
    (memory,) = await Asked(pick("long.md"), retrieval_max_tokens_per_md=100).about(tmp_path)
    assert memory.text.endswith("A line of the memory.\n(Cut here: the rest of the file did not fit.)")
    assert len(memory.text) < 500


async def test_a_memory_that_is_only_a_description_is_recalled_by_it(tmp_path: Path) -> None:
    save(tmp_path, "home.md", "", description="the user lives in Hangzhou")
    (memory,) = await Asked(pick("home.md")).about(tmp_path)
    assert memory.text.endswith("from home.md:\nthe user lives in Hangzhou")


async def test_the_version_is_that_of_the_text_not_of_the_clock(tmp_path: Path) -> None:
    versions = []
    for body, days in [("Oolong.", 9), ("Oolong.", 3), ("Sencha.", 3)]:
        save(tmp_path, "tea.md", body, days_old=days)
        (memory,) = await Asked(pick("tea.md")).about(tmp_path)
        versions.append(memory.content_hash)
    assert versions[0] == versions[1] != versions[2]


async def test_a_second_question_reads_only_what_is_chosen(tmp_path: Path) -> None:
    for number in range(9):
        save(tmp_path, f"{number}.md")
    backend = CountingBackend()
    model = ScriptedChatModel([], structured=[pick(), pick("3.md")])
    folder = folder_in(tmp_path, backend)
    recall = Recall(folder, LocalSearch(folder), Parameters(), model, lambda *_: None)
    await recall.find("one")
    backend.reads.clear()
    await recall.find("two")
    assert backend.reads == ["3.md"]


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="retrieval_max_files must not be negative"):
        Parameters(retrieval_max_files=-1)
    assert Parameters().retrieval_grace == 0.0


def test_an_unknown_selector_is_refused() -> None:
    with pytest.raises(ValueError, match="retrieval_selector must be one of"):
        Parameters(retrieval_selector="magic")


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(ValueError, match="must be an embedder, 'bundled' or None: 'magic'"):
        Parameters(retrieval_embedder="magic")


def test_the_parameters_can_be_looked_up_with_help() -> None:
    assert "retrieval_grace: float = 0.0" in pydoc.plain(pydoc.render_doc(Parameters))
