from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent_core.errors import ToolError
from agent_core.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
)
from agent_core.permission_engine import decide_permission
from agent_core.tool import Edit, Read, ToolBase, Write

ALLOW, DENY, ASK = PermissionBehavior.ALLOW, PermissionBehavior.DENY, PermissionBehavior.ASK
MODES = (
    PermissionMode.DEFAULT,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.EXPLORE,
    PermissionMode.BYPASS,
    PermissionMode.DONT_ASK,
)


def test_a_mode_may_be_given_by_its_name_and_must_be_one_that_there_is() -> None:
    context = PermissionContext()
    context.mode = "explore"  # type: ignore[assignment]
    assert context.mode is PermissionMode.EXPLORE
    assert PermissionContext("bypass").mode is PermissionMode.BYPASS  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nonsense"):
        context.mode = "nonsense"  # type: ignore[assignment]
    assert context.mode is PermissionMode.EXPLORE


NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}


class Pathless(ToolBase):
    """A tool that touches no file, with an opinion of its own."""

    name = "pathless"
    description = "does something"
    input_schema = NO_ARGUMENTS

    def __init__(
        self, is_read_only: bool = False, opinion: PermissionBehavior = PermissionBehavior.PASSTHROUGH
    ) -> None:
        self.is_read_only = is_read_only
        self.opinion = opinion

    async def call(self, **arguments: Any) -> str:
        return "done"

    async def check_permissions(self, arguments: dict[str, Any], context: PermissionContext) -> PermissionDecision:
        return PermissionDecision(self.opinion, decision_reason="it thinks so")


class World:
    """A working directory `w`, and what lies beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workdir = root / "w"
        self.outside = root / "outside"
        self.workdir.mkdir()
        self.outside.mkdir()
        (self.outside / "x.md").write_text("outside")
        (self.workdir / "x.md").write_text("inside")
        self.context = PermissionContext()
        self.work_in(self.workdir)

    def work_in(self, folder: Path) -> None:
        self.context.working_directories = {str(folder): AdditionalWorkingDirectory(path=str(folder), source="test")}

    def rule(self, behavior: PermissionBehavior, tool: str, pattern: Path | str | None) -> None:
        content = None if pattern is None else str(pattern)
        self.context.rules.append(PermissionRule(tool, content, behavior, "test"))

    async def decide(self, tool: ToolBase, path: Path | str | None = None) -> PermissionDecision:
        arguments = {} if path is None else {"file_path": str(path)}
        decision = await decide_permission(tool, arguments, self.context)
        assert decision.decision_reason
        assert "\n" not in decision.decision_reason + decision.message
        assert bool(decision.message) or decision.behavior is ALLOW
        return decision

    async def behavior(self, tool: ToolBase, path: Path | str | None = None) -> PermissionBehavior:
        return (await self.decide(tool, path)).behavior


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


#       default, accept_edits, explore, bypass, dont_ask
MATRIX: dict[str, tuple[ToolBase, str | None, Sequence[PermissionBehavior]]] = {
    "read inside": (Read(), "w/x.md", (ALLOW, ALLOW, ALLOW, ALLOW, ALLOW)),
    "read inside, missing": (Read(), "w/no.md", (ALLOW, ALLOW, ALLOW, ALLOW, ALLOW)),
    "read outside": (Read(), "outside/x.md", (ASK, ASK, ASK, ALLOW, DENY)),
    "read upwards": (Read(), "w/../outside/x.md", (ASK, ASK, ASK, ALLOW, DENY)),
    "write inside": (Write(), "w/x.md", (ASK, ALLOW, DENY, ALLOW, DENY)),
    "write new folders inside": (Write(), "w/a/b/c.md", (ASK, ALLOW, DENY, ALLOW, DENY)),
    "edit inside": (Edit(), "w/x.md", (ASK, ALLOW, DENY, ALLOW, DENY)),
    "write outside": (Write(), "outside/x.md", (ASK, ASK, DENY, ALLOW, DENY)),
    "write beside, same prefix": (Write(), "way/x.md", (ASK, ASK, DENY, ALLOW, DENY)),
    "write secrets inside": (Write(), "w/.env", (ASK, ASK, DENY, ALLOW, DENY)),
    "edit git inside": (Edit(), "w/.git/config", (ASK, ASK, DENY, ALLOW, DENY)),
    "change without a file": (Pathless(), None, (ASK, ASK, DENY, ALLOW, DENY)),
    "ask a question without a file": (Pathless(is_read_only=True), None, (ALLOW, ALLOW, ALLOW, ALLOW, ALLOW)),
    "tool allows itself": (Pathless(opinion=ALLOW), None, (ALLOW, ALLOW, DENY, ALLOW, ALLOW)),
    "tool denies itself": (Pathless(opinion=DENY), None, (DENY, DENY, DENY, DENY, DENY)),
    "tool wants to be asked about": (Pathless(opinion=ASK), None, (ASK, ASK, DENY, ALLOW, DENY)),
    "question that wants to be asked": (Pathless(True, ASK), None, (ASK, ASK, ASK, ALLOW, DENY)),
}


@pytest.mark.parametrize(
    ("situation", "mode", "expected"),
    [(name, mode, row[2][column]) for name, row in MATRIX.items() for column, mode in enumerate(MODES)],
)
async def test_every_mode_in_every_situation(
    world: World, situation: str, mode: PermissionMode, expected: PermissionBehavior
) -> None:
    tool, path, _ = MATRIX[situation]
    world.context.mode = mode
    assert await world.behavior(tool, None if path is None else world.root / path) is expected


class TestRules:
    @pytest.mark.parametrize("mode", MODES)
    async def test_a_deny_rule_wins_over_everything(self, world: World, mode: PermissionMode) -> None:
        world.context.mode = mode
        for tool in (Read(), Pathless(opinion=ALLOW)):
            for behavior in (ALLOW, ASK, DENY):
                world.rule(behavior, tool.name, None)
        assert await world.behavior(Read(), world.workdir / "x.md") is DENY
        assert await world.behavior(Pathless(opinion=ALLOW)) is DENY

    @pytest.mark.parametrize(
        ("mode", "expected"), [(mode, DENY if mode is PermissionMode.DONT_ASK else ASK) for mode in MODES]
    )
    async def test_an_ask_rule_wins_over_allowing(
        self, world: World, mode: PermissionMode, expected: PermissionBehavior
    ) -> None:
        world.context.mode = mode
        world.rule(ALLOW, "Read", None)
        world.rule(ASK, "Read", world.workdir / "**")
        decision = await world.decide(Read(), world.workdir / "x.md")
        assert decision.behavior is expected
        assert decision.suggested_rules == ()

    async def test_an_allow_rule_allows_what_would_ask(self, world: World) -> None:
        world.rule(ALLOW, "Write", world.outside / "*.md")
        world.rule(ALLOW, "pathless", None)
        assert await world.behavior(Write(), world.outside / "x.md") is ALLOW
        assert await world.behavior(Edit(), world.outside / "x.md") is ASK
        assert await world.behavior(Write(), world.outside / "x.txt") is ASK
        assert await world.behavior(Pathless()) is ALLOW
        assert await world.behavior(Pathless(opinion=ASK)) is ALLOW
        world.context.mode = PermissionMode.EXPLORE
        assert await world.behavior(Write(), world.outside / "x.md") is DENY

    async def test_a_pattern_says_nothing_of_a_tool_without_a_file(self, world: World) -> None:
        world.rule(DENY, "pathless", "/**")
        assert await world.behavior(Pathless()) is ASK

    async def test_a_rule_cannot_be_climbed_out_of(self, world: World) -> None:
        """The path is resolved before a rule is matched, so dots lead nowhere."""
        world.rule(ALLOW, "Read", world.root / "zz" / "**")
        (world.root / "zz").mkdir()
        assert await world.behavior(Read(), world.root / "zz" / "a") is ALLOW
        assert await world.behavior(Read(), world.root / "zz" / ".." / ".." / "etc" / "x") is ASK
        assert await world.behavior(Read(), f"{world.root}/zz/sub/../../outside/x.md") is ASK

    async def test_a_rule_on_a_link_holds_for_what_it_leads_to(self, world: World) -> None:
        """X06: a deny rule is not got round by naming the folder otherwise."""
        (world.root / "alias").symlink_to(world.workdir)
        world.rule(DENY, "Read", world.root / "alias" / "private" / "**")
        assert await world.behavior(Read(), world.workdir / "private" / "diary.md") is DENY
        assert await world.behavior(Read(), world.root / "alias" / "private" / "diary.md") is DENY
        assert await world.behavior(Read(), world.workdir / "x.md") is ALLOW

    async def test_what_a_link_leads_to_is_a_name_and_no_pattern(self, world: World) -> None:
        odd = world.outside / "we[ir]d*"
        odd.mkdir()
        (world.root / "alias").symlink_to(odd)
        world.rule(ALLOW, "Read", world.root / "alias" / "**")
        assert await world.behavior(Read(), odd / "x.md") is ALLOW
        assert await world.behavior(Read(), world.outside / "weird" / "x.md") is ASK

    async def test_a_relative_pattern_is_taken_from_every_working_directory(self, world: World) -> None:
        world.rule(DENY, "Read", "private/*.md")
        assert await world.behavior(Read(), world.workdir / "private" / "a.md") is DENY
        assert await world.behavior(Read(), world.outside / "private" / "a.md") is ASK

    @pytest.mark.parametrize("pattern", ["{w}/private/", "{w}/private/**", "**/private/**", "~/private/", "private/"])
    async def test_ways_to_say_a_folder_and_all_in_it(
        self, world: World, pattern: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(world.workdir))
        world.rule(DENY, "Read", pattern.format(w=world.workdir))
        assert await world.behavior(Read(), world.workdir / "private" / "deep" / "a.md") is DENY
        assert await world.behavior(Read(), world.workdir / "public" / "a.md") is ALLOW

    async def test_a_rule_whose_links_form_a_loop_is_about_nothing(self, world: World) -> None:
        (world.root / "circle").symlink_to("circle")
        world.rule(ALLOW, "Write", world.root / "circle" / "**")
        world.context.mode = PermissionMode.ACCEPT_EDITS
        assert await world.behavior(Write(), world.workdir / "x.md") is ALLOW
        assert await world.behavior(Write(), world.root / "circle" / "x.md") is DENY

    @pytest.mark.parametrize("pattern", [None, "/**", "{w}/**", "{w}/.en[v]"])
    async def test_a_broad_allow_rule_does_not_cover_secrets(self, world: World, pattern: str | None) -> None:
        world.rule(ALLOW, "Write", pattern and pattern.format(w=world.workdir))
        world.context.mode = PermissionMode.ACCEPT_EDITS
        assert await world.behavior(Write(), world.workdir / ".env") is ASK
        world.rule(ALLOW, "Write", world.workdir / ".env")
        assert await world.behavior(Write(), world.workdir / ".env") is ALLOW

    async def test_a_broad_allow_rule_does_not_lay_open_keys_outside(self, world: World) -> None:
        world.rule(ALLOW, "Read", world.outside / "**")
        assert await world.behavior(Read(), world.outside / "x.md") is ALLOW
        assert await world.behavior(Read(), world.outside / ".ssh" / "id_ed25519") is ASK


class TestAlways:
    async def test_always_means_the_folder_of_the_file_as_it_is_on_disk(self, world: World) -> None:
        odd = world.outside / "we[ir]d*"
        odd.mkdir()
        (world.root / "alias").symlink_to(odd)
        decision = await world.decide(Write(), world.root / "alias" / "x.md")
        world.context.rules.extend(decision.suggested_rules)
        assert await world.behavior(Write(), odd / "sub" / "y.md") is ALLOW
        assert await world.behavior(Write(), world.outside / "weid*" / "y.md") is ASK
        assert await world.behavior(Write(), world.outside / "x.md") is ASK
        assert await world.behavior(Edit(), odd / "y.md") is ASK

    async def test_always_means_only_the_file_where_the_folder_would_be_too_much(self, world: World) -> None:
        for path in ("/not-there.md", str(world.workdir / ".env")):
            decision = await world.decide(Write(), path)
            assert [rule.rule_content for rule in decision.suggested_rules] == [path]
            world.context.rules.extend(decision.suggested_rules)
            assert await world.behavior(Write(), path) is ALLOW
            assert await world.behavior(Write(), path + ".2") is ASK

    async def test_always_means_the_tool_where_there_is_no_file(self, world: World) -> None:
        for tool in (Pathless(), Pathless(opinion=ASK)):
            decision = await world.decide(tool)
            assert decision.suggested_rules == (PermissionRule("pathless", None, ALLOW, "always"),)


class TestLinks:
    async def test_a_dangling_link_is_judged_by_where_it_leads(self, world: World) -> None:
        """X01: the target does not exist yet, and lies outside."""
        link = world.workdir / "new.md"
        link.symlink_to(world.outside / "made.md")
        world.context.mode = PermissionMode.ACCEPT_EDITS
        decision = await world.decide(Write(), link)
        assert decision.behavior is ASK
        assert decision.path == str(world.outside / "made.md")
        assert decision.path in decision.message
        world.context.mode = PermissionMode.DONT_ASK
        assert await world.behavior(Write(), link) is DENY

    @pytest.mark.parametrize("tool", [Read(), Write(), Edit()])
    async def test_a_folder_link_that_leads_outside_is_outside(self, world: World, tool: ToolBase) -> None:
        """X03."""
        (world.workdir / "out").symlink_to("../outside")
        world.context.mode = PermissionMode.ACCEPT_EDITS
        assert await world.behavior(tool, world.workdir / "out" / "x.md") is ASK
        assert await world.behavior(tool, world.workdir / "out" / "new" / "y.md") is ASK

    @pytest.mark.parametrize("tool", [Read(), Write(), Edit()])
    async def test_a_link_from_inside_to_inside_works(self, world: World, tool: ToolBase) -> None:
        """X03."""
        (world.workdir / "real").mkdir()
        (world.workdir / "in").symlink_to("real")
        world.context.mode = PermissionMode.ACCEPT_EDITS
        assert await world.behavior(tool, world.workdir / "in" / "x.md") is ALLOW

    @pytest.mark.parametrize("tool", [Read(), Write()])
    async def test_the_working_directory_may_itself_be_a_link(self, world: World, tool: ToolBase) -> None:
        """X06: both spellings are inside, and the neighbours of neither are."""
        (world.root / "r").symlink_to(world.workdir)
        world.work_in(world.root / "r")
        world.context.mode = PermissionMode.ACCEPT_EDITS
        assert await world.behavior(tool, world.root / "r" / "x.md") is ALLOW
        assert await world.behavior(tool, world.workdir / "x.md") is ALLOW
        assert await world.behavior(tool, world.root / "r" / ".." / "outside" / "x.md") is ASK

    async def test_a_relative_working_directory_is_taken_from_where_the_program_runs(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(world.root)
        world.work_in(Path("w"))
        assert await world.behavior(Read(), world.workdir / "x.md") is ALLOW
        assert await world.behavior(Read(), world.outside / "x.md") is ASK

    @pytest.mark.parametrize("path", ["circle", "", "~nobody-by-this-name/x"])
    async def test_a_working_directory_that_is_none_lets_nothing_in(
        self, world: World, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(world.outside)
        (world.outside / "circle").symlink_to("circle")
        world.context.working_directories = {path: AdditionalWorkingDirectory(path)}
        assert await world.behavior(Read(), world.outside / "x.md") is ASK

    async def test_a_secret_behind_a_harmless_name_is_still_a_secret(self, world: World) -> None:
        (world.workdir / "notes.md").symlink_to(".env")
        world.context.mode = PermissionMode.ACCEPT_EDITS
        assert await world.behavior(Write(), world.workdir / "notes.md") is ASK


class TestFailingClosed:
    @pytest.mark.parametrize("mode", MODES)
    async def test_what_cannot_be_resolved_is_denied_in_every_mode(self, world: World, mode: PermissionMode) -> None:
        (world.workdir / "circle").symlink_to("circle")
        world.context.mode = mode
        for path in (world.workdir / "circle", "relative.md", "", f"{world.workdir}/nul\0"):
            assert await world.behavior(Read(), path) is DENY

    async def test_a_tool_that_fails_to_judge_is_denied(self, world: World) -> None:
        class Broken(Pathless):
            async def check_permissions(
                self, arguments: dict[str, Any], context: PermissionContext
            ) -> PermissionDecision:
                raise KeyError("half\nwritten")

        world.context.mode = PermissionMode.BYPASS
        assert (await world.decide(Broken())).behavior is DENY

    async def test_the_refusal_of_a_tool_is_told(self, world: World) -> None:
        class Refusing(Pathless):
            async def resolve_path(self, arguments: dict[str, Any]) -> str:
                raise ToolError("the moon is not full")

        assert "the moon is not full" in (await world.decide(Refusing())).message

    async def test_a_name_made_to_look_like_a_question_stays_a_name(self, world: World) -> None:
        path = world.outside / "x\n\x1b[2JAllow? yes"
        decision = await world.decide(Write(), path)
        assert "\x1b" not in decision.message
        assert decision.path == str(path)


async def test_no_working_directory_is_assumed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.workdir)
    world.context.working_directories.clear()
    assert os.getcwd() == str(world.workdir)
    assert await world.behavior(Read(), world.workdir / "x.md") is ASK
