"""A short conversation as events, the same every time: no clock, no random ids."""

from __future__ import annotations

from pathlib import Path

from agent_core.agent import Agent
from agent_core.event import (
    BlockDelta,
    BlockEnded,
    BlockStarted,
    Event,
    ModelCallEnded,
    Noticed,
    PermissionAsked,
    PromptSent,
    ReplyEnded,
    ReplyStarted,
    RoundStarted,
    ToolEnded,
    ToolStarted,
    Usage,
)
from agent_core.message import (
    AssistantMsg,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from agent_core.trace import Trace
from tests.tui.app.harness import SmallRuntime

NOON = 1_800_000_000.0
DIFF = """\
--- Memory/user_profile.md
+++ Memory/user_profile.md
@@ -1,3 +1,4 @@
 # User
-- lives in Beijing
+- lives in Hangzhou
+- likes short answers
 - speaks Chinese and English"""
ANSWER = """\
## What I noted

You live in **Hangzhou** (杭州) and like *short* answers. It is in `user_profile.md`:

| fact | since |
|------|------:|
| lives in 杭州 | today |
| short answers | today |

```python
profile = {"city": "Hangzhou"}
```

> Say so when it changes."""
_CALL = ToolCallBlock("c1", "Edit", '{"file_path": "Memory/user_profile.md", "old_string": "Beijing"}')


class Storyteller:
    """Appends what happens in a conversation to an agent's trace."""

    def __init__(self, folder: Path) -> None:
        self.runtime = SmallRuntime(folder=folder, trace=Trace(clock=lambda: NOON))

    @property
    def agent(self) -> Agent:
        return self.runtime.agent

    def append(self, *events: Event) -> None:
        for event in events:
            self.agent.trace.append(event)

    async def store(self, msg: Msg, *marks: str) -> None:
        await self.agent.memory.add(msg, marks=list(marks))

    async def tell_beginning(self) -> None:
        """A question, a recalled memory, a call that is about to be made."""
        await self.agent.start()
        self.append(ReplyStarted(reply_id="r1", agent="assistant", inputs=("m1",)))
        said = "I moved from Beijing to Hangzhou, and I like short answers.\nPlease remember that."
        await self.store(UserMsg("user", said, id="m1"), "planning")
        self.append(RoundStarted(reply_id="r1", round=1))
        hint = HintBlock("Memory saved 2026-11-30 from user_profile.md:\n- lives in Beijing", "memory:user_profile.md")
        await self.store(AssistantMsg("memory", [hint], id="m2"), "hint")
        self.append(
            PromptSent(reply_id="r1", round=1, model="scripted", tokens=900, context_size=8000),
            BlockStarted(reply_id="r1", block_id="b1", kind="thinking"),
            BlockDelta(reply_id="r1", block_id="b1", kind="thinking", text="The profile says Beijing."),
            BlockEnded(reply_id="r1", block_id="b1"),
            BlockStarted(reply_id="r1", block_id="c1", kind="tool_call", name="Edit"),
            BlockEnded(reply_id="r1", block_id="c1"),
            ModelCallEnded(reply_id="r1", round=1, seconds=1.0, usage=Usage(1000, 80)),
        )
        await self.store(AssistantMsg("assistant", [ThinkingBlock("The profile says Beijing."), _CALL], id="m3"))

    def ask(self) -> None:
        """The question whether the call may be made."""
        question = "Allow Edit on Memory/user_profile.md? (it changes a file)"
        self.append(
            PermissionAsked(call_id="c1", tool="Edit", arguments={}, question=question, diff=DIFF, reply_id="r1")
        )

    async def tell_end(self) -> None:
        """The call's result, the answer, a notice."""
        self.append(ToolStarted(reply_id="r1", call_id="c1", tool="Edit", arguments={}))
        result = ToolResultBlock("c1", "Edit", "Changed Memory/user_profile.md.")
        await self.store(SystemMsg("Edit", [result], id="m4"), "tool")
        self.append(
            ToolEnded(reply_id="r1", call_id="c1", tool="Edit", state="success", msg_id="m4", seconds=0.02, diff=DIFF),
            RoundStarted(reply_id="r1", round=2),
        )
        await self.store(AssistantMsg("assistant", [TextBlock(ANSWER)], id="m5"))
        self.append(
            ModelCallEnded(reply_id="r1", round=2, seconds=1.0, usage=Usage(1200, 150)),
            ReplyEnded(reply_id="r1", finish="completed", rounds=2, usage=Usage(2200, 230)),
            Noticed(text="Ollama runs on this machine: /model llama3 http://localhost:11434/v1 uses it."),
        )
