"""Sessions written down as lists of flat events, read as a file would be."""

import json
from typing import Any

from analyzer.session.codec import read_session
from analyzer.session.model import Session

__all__ = ["answered", "call", "output", "plugin", "session_of"]

Raw = dict[str, Any]


def session_of(*events: Any, **top: Any) -> Session:
    """Return the session of these events; those without a time follow each other by a second."""
    timed = [
        event
        if not isinstance(event, dict) or "timestamp" in event
        else {**event, "timestamp": f"2025-06-01T12:{place // 60 % 60:02d}:{place % 60:02d}Z"}
        for place, event in enumerate(events)
    ]
    document = {"schema_version": "critiqor.session.v1", "run_id": "run_001", **top, "events": timed}
    return read_session(json.dumps(document).encode())


def call(tool: str = "search", args: Any = None, **more: Any) -> Raw:
    """Return a tool call in flat spelling."""
    return {"event": "tool_call", "tool": tool, "args": {"q": "alpha"} if args is None else args, **more}


def output(result: Any = "found", tool: str = "search", **more: Any) -> Raw:
    """Return a tool's output in flat spelling."""
    return {"event": "tool_output", "tool": tool, "output": result, **more}


def answered(*results: Any, tool: str = "search", args: Any = None) -> list[Raw]:
    """Return equal calls, each with its result; a result that is an exception is an error."""
    events: list[Raw] = []
    for result in results:
        failed = isinstance(result, Exception)
        told = {"error": str(result), "status": "error"} if failed else {"output": result}
        events += (call(tool, args), {"event": "tool_output", "tool": tool, **told})
    return events


def plugin(event_type: str, **payload: Any) -> Raw:
    """Return an event as the OpenClaw plugin writes it; `error` in the payload makes it a failed one."""
    tool, call_id = payload.get("toolName"), payload.get("toolCallId")
    hook = {
        "tool_name": tool,
        "tool_call_id": call_id,
        "status": "error" if payload.get("isError") is True else "ok",
        "error": payload.get("error"),
        "duration_ms": None,
    }
    layer = "extension_api" if tool is None else "tool_hooks"
    return {"event_type": event_type, "source_layer": layer, "payload": payload, **(hook if tool else {})}
