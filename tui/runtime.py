"""`Runtime`: the agent of the program with its model, its tools, its memory and its session."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from agent_core.agent import Agent, Approve
from agent_core.errors import MnemoscopeError, StorageError
from agent_core.event import Noticed
from agent_core.trace import Trace
from memory import InMemoryMemory, MemoryBase
from memory.agentic import AgenticMemoryMiddleware
from tui.config import Settings
from tui.config_file import ConfigError
from tui.connection import Connection
from tui.log import log_path
from tui.long_term_memory import LongTermMemory, Remaining
from tui.memory_url import missing_package
from tui.program_agent import make_agent, memory_parameters
from tui.session import SessionFile
from tui.session_repair import CutReply, cut_replies
from tui.session_store import OpenedSession, SessionNotFound, SessionStore, is_session_id
from tui.unsent import UnsentFile
from tui.workspace import open_workspace

if TYPE_CHECKING:
    from memory.mem0 import Mem0Middleware
    from tui.for_good import ForGood, Gone
    from tui.forgetting import Forgotten
    from tui.prompt_history import PromptHistory
    from tui.working_memory import KeptMemory

LOOK_SECONDS = 1.0
"""Between two looks into the store for what others have written, and between two tries to write to one that fails."""


class Runtime:
    """One agent and its session, and how to change them.

    Making one is cheap and reaches nothing; `start` does what can wait for the first paint.

    Args:
        settings: what was configured.
        resume: id, or its beginning, of the session to go on with.
        go_on: go on with the newest session of this workdir.
        approve: asks a person about a tool call; without it such calls are refused.

    Raises:
        StorageError: the session to go on with cannot be had.
        ConfigError: a package is missing for the store that is to keep the messages.

    Attributes:
        agent: the agent of the current session; another one after `new_session`.
        session: the current session's file.
        unsent: keeps what is typed in it and not sent.
        workspace: where the agent works.
        memory: its long-term memory.
        notices: what people are told when the agent is prepared, one line each.
        last_words: what people must know once it is closed; mostly empty.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        resume: str | None = None,
        go_on: bool = False,
        approve: Approve | None = None,
    ) -> None:
        self._facts = LongTermMemory(settings, lambda event: self.agent.trace.append(event))
        self.workspace = open_workspace(settings)
        self.notices = [*settings.warnings, *self.workspace.notices]
        self.memory = AgenticMemoryMiddleware(
            self.workspace.folder,
            parameters=memory_parameters(settings, self.workspace.name),
            backend=self.workspace.backend,
            history_dir=self.workspace.history_dir,
        )
        self.store = SessionStore(settings.sessions_dir)
        self.last_words = ""
        self._connection = Connection(settings)
        self._cut: list[CutReply] = []
        self._background: set[asyncio.Task[None]] = set()
        self._kept: KeptMemory | None = None
        self._not_found: SessionNotFound | None = None
        if settings.memory and (missing := missing_package(settings.memory)):
            raise ConfigError(missing)
        self.agent, self.session = self._begin(self._opened(resume, go_on), approve)

    @property
    def settings(self) -> Settings:
        """What is in effect now."""
        return self._facts.settings

    @property
    def facts(self) -> Mem0Middleware | None:
        """The long-term memory of facts in use; None while it is off."""
        return self._facts.middleware

    @property
    def workdir(self) -> PurePath:
        """The folder that the agent works in, as its back end knows it."""
        return self.workspace.folder

    @property
    def history_path(self) -> Path | None:
        """Where typed prompts are kept; None where no folder is known."""
        return self.settings.data_dir / "history.jsonl" if self.settings.data_dir else None

    @property
    def log_path(self) -> Path:
        """Where an internal error is written down."""
        return log_path(self.settings)

    async def find_session(self) -> None:
        """Look into the store for a session to go on with that has no file here. Where it has one, this does nothing.

        Raises:
            StorageError: the store does not have it either, or cannot be reached.
        """
        if self._not_found is None or self._kept is None:
            return
        await self._kept.start()
        if trouble := self._kept.memory.trouble:
            raise StorageError(f"{self._not_found} Nor can the memory store be asked: {trouble}")
        if not await self._kept.memory.entries() and not self._kept.memory._compressed_summary:
            raise StorageError(f"{self._not_found} The memory store has none of that id either.")

    async def prepare(self) -> None:
        """Make the agent ready for its first reply: end what was cut off, tell what is to be told, name the model."""
        if self._kept is not None:
            await self._kept.start()
        await self._equip()
        cut, self._cut = self._cut, []
        for reply in cut:
            await reply.bring_to_an_end(self.agent)
        await self.agent.start()
        notices, self.notices = [*self.notices, await self._connection.name_model()], []
        self.agent.model = self._connection.model
        for notice in filter(None, notices):
            self.agent.trace.append(Noticed(text=notice, level="warning"))
        if self.session.problem:
            self._tell_problem(self.session.problem)
        self._in_background(self._reach_workdir())

    async def start(self) -> None:
        """`prepare`, and do the rest in the background: get the connection ready, or look for local servers."""
        from tui.kept_texts import untold_texts

        self.notices += untold_texts(self.settings.data_dir)
        await self.prepare()
        self._facts.start(self.agent)
        self._in_background(self._look_around())
        self._in_background(self._follow_store())

    async def new_session(self) -> None:
        """End the session and begin an empty one, with the same settings, model and permissions."""
        before = self.agent
        await self._leave_session()
        if self.last_words:
            self.notices.append(self.last_words)
            self.last_words = ""
        self.agent, self.session = self._begin(self.store.new(self.workspace.name), before.approve)
        self.agent.state.permission_context = before.state.permission_context
        await self.prepare()

    async def forget(self, history: PromptHistory) -> Forgotten:
        """Forget everything about the user; the session ends, for it may hold some of it, and an empty one begins.

        Raises:
            MnemoscopeError: the facts could not be deleted; nothing else was then.
        """
        from tui.forgetting import forget_everything

        self.session.close()
        try:
            async with self._facts.borrowed() as facts:
                return await forget_everything(self.settings, facts, history)
        finally:
            await self.new_session()

    def deleting_memory(self, path: str) -> AbstractAsyncContextManager[ForGood]:
        """Get ready to delete a memory for good; see `deleting_for_good`, also for what is raised."""
        from tui.for_good import deleting_for_good

        return deleting_for_good(self.memory.book, path, self.settings, self.session.path)

    async def delete_memory(self, deletion: ForGood, history: PromptHistory) -> Gone:
        """Delete a memory for good; the session ends when it tells of it, and an empty one begins, also on failure.

        Raises:
            StorageError: something could not be deleted.
        """
        if deletion.tells_here:
            self.session.close()
        try:
            return await deletion.carry_out()
        finally:
            history.reload()
            if deletion.tells_here:
                await self.new_session()

    def set_model(self, model: str, base_url: str | None = None) -> None:
        """Have the agent use another model from the next call on; see `Connection.change`."""
        self.agent.model = self._connection.change(model, base_url)
        self._in_background(self._connection.warm_up())

    async def use_facts(self, mode: str | None = None, user: str | None = None) -> None:
        """Use mem0 in another mode, or for another user, from the next reply on; None leaves things as they are.

        Raises:
            ConfigError: such a user cannot be.
        """
        await self._facts.change(self.agent, mode, user)

    async def finish_writing(self, seconds: float, remaining: Remaining | None = None) -> int:
        """Wait for the facts that are being written; see `LongTermMemory.finish`."""
        return await self._facts.finish(seconds, remaining)

    async def aclose(self, seconds: float = 5.0, remaining: Remaining | None = None) -> None:
        """Stop what runs in the background, write everything down and let go of connections.

        Args:
            seconds: to wait for facts that are being written, at most; what is not written then is kept.
            remaining: told how many those are.
        """
        for task in self._background:
            task.cancel()
        try:
            await asyncio.gather(*self._background, return_exceptions=True)
            await self.finish_writing(seconds, remaining)
        finally:
            await self.memory.aclose()
            await self.workspace.backend.aclose()
            await self._connection.aclose()
            await self._leave_session()

    async def _equip(self) -> None:
        try:
            await self._facts.equip(self.agent)
        except MnemoscopeError as error:
            self.notices.append(str(error))

    def _opened(self, resume: str | None, go_on: bool) -> OpenedSession:
        if resume is None:
            return self.store.resume_newest(self.workspace.name) if go_on else self.store.new(self.workspace.name)
        try:
            return self.store.resume(resume, self.workspace.name)
        except SessionNotFound as error:
            if not self.settings.memory or not is_session_id(resume):
                raise
            # Begun elsewhere, or without a file: `find_session` asks the store.
            self._not_found = error
            return self.store.new(self.workspace.name, id_=resume)

    def _begin(self, opened: OpenedSession, approve: Approve | None) -> tuple[Agent, SessionFile]:
        self.unsent = UnsentFile(opened.file)
        trace = Trace()
        trace.restore(opened.events)
        agent = make_agent(
            self.workspace,
            self._connection.model,
            self.memory,
            self._working_memory(opened, trace),
            mark_rules=self.settings.mark_rules,
            approve=approve,
            trace=trace,
        )
        self.memory.recording.session_id = opened.file.id
        trace.subscribe(opened.file.append)
        opened.file.on_problem = self._tell_problem
        self.notices += opened.notices
        self._cut = cut_replies(opened.events)
        return agent, opened.file

    def _working_memory(self, opened: OpenedSession, trace: Trace) -> MemoryBase:
        if self.settings.memory:
            from tui.working_memory import KeptMemory

            self._kept = KeptMemory(self.settings.memory, self.settings.user, opened, trace)
            return self._kept.memory
        memory = InMemoryMemory()
        memory.content = [(entry.msg, list(entry.marks)) for entry in opened.entries]
        memory._compressed_summary = opened.summary
        return memory

    async def _leave_session(self) -> None:
        if self._kept is not None:
            self.last_words = await self._kept.aclose()
        self.session.close()

    async def _follow_store(self) -> None:
        while self._kept is not None:
            await asyncio.sleep(LOOK_SECONDS)
            await self._kept.memory.refresh()

    async def _reach_workdir(self) -> None:
        if problem := await self.workspace.problem():
            self.agent.trace.append(Noticed(text=problem, level="warning"))

    async def _look_around(self) -> None:
        if self.settings.has_model:
            await self._connection.warm_up()
            return
        from tui.discovery import find_local_servers

        for server in await find_local_servers():
            self.agent.trace.append(Noticed(text=server.offer))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _tell_problem(self, problem: str) -> None:
        notice = Noticed(text=problem, level="error") if problem else Noticed(text="The session is being saved again.")
        # Later, since this is called from within the append of another event.
        asyncio.get_running_loop().call_soon(self.agent.trace.append, notice)
