"""The session in which what happens in another happens several times, one time after the other, in one run."""

import json
from typing import Any

from analyzer.session.codec import read_session
from analyzer.session.model import Session

__all__ = ["repeated"]

_IDS = frozenset(("tool_call_id", "toolCallId", "event_id", "span_id", "id"))
_RIM = ("agent_start", "agent_end", "session_start", "session_end")


def repeated(raw: bytes, times: int, *, with_rims: bool) -> Session:
    """Return what a session file tells, so many times; without rims the starts and ends in the middle are left out."""
    document: dict[str, Any] = json.loads(raw)
    events: list[dict[str, Any]] = []
    for turn in range(times):
        for place, event in enumerate(document["events"]):
            is_outermost = turn == 0 if str(event.get("event_type")).endswith("_start") else turn == times - 1
            if with_rims or is_outermost or event.get("event_type") not in _RIM:
                events.append({**_renamed(event, turn), "timestamp": _time(turn * len(document["events"]) + place)})
    return read_session(json.dumps({**document, "events": events}).encode())


def _renamed(value: Any, turn: int) -> Any:
    """Return a value with ids of its own turn; those of the first stay."""
    if isinstance(value, list):
        return [_renamed(one, turn) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{inner}-{turn}" if turn and name in _IDS and isinstance(inner, str) else _renamed(inner, turn)
        for name, inner in value.items()
    }


def _time(second: int) -> str:
    return f"2025-06-01T{12 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
