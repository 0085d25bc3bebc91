"""A brain for demos: no model, a few plain rules."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.fake_server.script import Answer, Pause, Step, reasoning, reply, text, tool_call
from tests.fake_server.server import Request

_CALL = re.compile(r"\s*call\s+(\w+)\s+(\{.*\})\s*", re.DOTALL)
_PAUSE = Pause(0.02)


def demo_brain(request: Request) -> Answer:
    """Echo what was said; `call NAME {json}` makes that call; asked for JSON, give the emptiest object."""
    wanted = (request.body.get("response_format") or {}).get("json_schema")
    if wanted:
        return reply(text(json.dumps(_emptiest(wanted["schema"]))))
    last = request.messages[-1]
    said = _plain(last["content"])
    if last["role"] == "tool":
        return reply(_slowly(f"The tool says: {said}"))
    call = _CALL.fullmatch(said)
    if call and any(tool["function"]["name"] == call[1] for tool in request.body.get("tools", ())):
        return reply(reasoning(f"I am told to call {call[1]}."), tool_call(call[1], call[2]))
    return reply(reasoning("This is a demo, I only repeat.", pieces=4), _slowly(f"You said: {said}"))


def _slowly(words: str) -> list[Step]:
    return [step for word in re.findall(r"\S+\s*", words) for step in (*text(word), _PAUSE)]


def _plain(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


def _emptiest(schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "object":
        return {name: _emptiest(inner) for name, inner in schema.get("properties", {}).items()}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False}.get(kind)
