"""Reading what messages are written down as, also by AgentScope 1.x."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import msgspec

from agent_core.block import ContentBlock


def read_block(data: object) -> ContentBlock:
    """One block.

    Raises:
        KeyError, ValueError, msgspec.ValidationError: a field is missing or has no meaning here.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"not a block: {reprlib.repr(data)}")
    return cast("ContentBlock", msgspec.convert(_from_agentscope_1(dict(data)), ContentBlock))


def _from_agentscope_1(data: dict[str, Any]) -> dict[str, Any]:
    """Rename what AgentScope 1.x calls differently: tool_use, tool_result content, media sources."""
    kind = data.get("type")
    if kind == "tool_use":
        raw = data.get("raw_input") or data.get("input") or {}
        text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
        return {"type": "tool_call", "id": data["id"], "name": data["name"], "input": text}
    if kind == "tool_result":
        output = data.get("output") or ""
        if not isinstance(output, str):
            output = [_from_agentscope_1(dict(_mapping(block, "what is in the output of a tool"))) for block in output]
        return {**data, "output": output}
    if kind in ("image", "audio", "video"):
        source = _mapping(data["source"], f"the source of a block of type '{kind}'")
        media_type = source.get("media_type") or f"{kind}/*"
        return {"type": "data", "media_type": media_type, "data": source.get("data"), "url": source.get("url")}
    return data


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be a dict, not {reprlib.repr(value)}")
    return value


def read_created_at(data: Mapping[str, Any]) -> float | None:
    """Seconds since the epoch, from our own field or from AgentScope 1.x's local `timestamp` text.

    Raises:
        ValueError: there is no such time.
    """
    if data.get("created_at") is not None:
        return float(data["created_at"])
    stamp = data.get("timestamp")
    return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) and stamp else None
