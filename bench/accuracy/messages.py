"""Runs of one agent with tools, as a list of chat messages, read into sessions.

The format: `run.traj` [{role, content, tool_calls?, tool_call_id?, name?, index}] with the system's instructions first,
`labels.failures` [{failure_id, step_number, failed_agent}] and `labels.root_cause.failure_id`. Of `run` nothing but the
messages is read: not the task the user was given, not the actions that would have been right, not the reward.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labelled import Labelled, Step, event_of, session_of

from analyzer.session.model import Event

__all__ = ["is_trajectory", "read_trajectory"]

_AGENT = "assistant"


def is_trajectory(document: Any) -> bool:
    """Return whether a JSON document has this form."""
    return isinstance(document, Mapping) and "traj" in (document.get("run") or {}) and "labels" in document


def read_trajectory(document: Any, name: str, group: str) -> Labelled | None:
    """Return the run, or None when no step is labelled as its root."""
    labels = document["labels"]
    root = labels.get("root_cause", {}).get("failure_id")
    failure = next((found for found in labels.get("failures", ()) if found["failure_id"] == root), None)
    if failure is None:
        return None
    messages: Sequence[Mapping[str, Any]] = document["run"]["traj"]
    steps = [Step(str(message["role"]), bool(message.get("tool_calls"))) for message in messages]
    first = int(messages[0].get("index", 1))
    numbered = ((int(message.get("index", number)), message) for number, message in enumerate(messages, first))
    events = [event for number, message in numbered for event in _events(number, message)]
    agent = str(failure.get("failed_agent", ""))
    return Labelled(name, group, session_of(name, events), steps, first, int(failure["step_number"]), agent)


def _events(number: int, message: Mapping[str, Any]) -> Iterator[Event]:
    yield from _READERS.get(str(message["role"]), _nothing)(number, message)


def _nothing(_: int, __: Mapping[str, Any]) -> Iterator[Event]:
    return iter(())


def _system(number: int, message: Mapping[str, Any]) -> Iterator[Event]:
    payload = {"agent": _AGENT, "system_instructions": message.get("content") or ""}
    yield event_of(number, 0, event="state_transition", event_type="before_provider_request", payload=payload)


def _user(number: int, message: Mapping[str, Any]) -> Iterator[Event]:
    payload = {"role": "user", "text": message.get("content") or ""}
    yield event_of(number, 0, event="state_transition", event_type="message_received", payload=payload)


def _assistant(number: int, message: Mapping[str, Any]) -> Iterator[Event]:
    calls = message.get("tool_calls") or ()
    asked = [
        {"id": call["id"], "name": call["function"]["name"], "arguments": _arguments(call["function"]["arguments"])}
        for call in calls
    ]
    said = {"role": "assistant", "text": message.get("content") or "", "tool_requests": asked}
    payload = {"agent": _AGENT, "messages": [{key: value for key, value in said.items() if value}]}
    yield event_of(number, 0, event="token_usage", event_type="after_provider_response", payload=payload)
    for place, call in enumerate(asked, 1):
        yield event_of(
            number,
            place,
            event="tool_call",
            event_type="tool_call",
            tool_name=call["name"],
            tool_call_id=call["id"],
            payload={"input": call["arguments"], "agent": _AGENT},
        )


def _tool(number: int, message: Mapping[str, Any]) -> Iterator[Event]:
    yield event_of(
        number,
        0,
        event="tool_output",
        event_type="tool_result",
        tool_name=message.get("name"),
        tool_call_id=message.get("tool_call_id"),
        payload={"result": message.get("content")},
    )


_READERS = {"system": _system, "user": _user, "assistant": _assistant, "tool": _tool}


def _arguments(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text
