"""Runs of a few events, and what one detector finds in them."""

from typing import Any

from flat_sessions import Raw, session_of

from analyzer.cause import FailureCause
from analyzer.diagnosis import diagnose
from analyzer.options import Options
from analyzer.profile import Profile

__all__ = ["END", "START", "asks", "context", "found", "heard", "response", "said", "tool"]

START: Raw = {"event_type": "agent_start", "payload": {"agent": "helper"}}
END: Raw = {"event_type": "agent_end", "status": "ok", "payload": {"agent": "helper"}}
_NOTHING = object()


def found(detector: Any, *events: Raw, profile: Profile = Profile.STANDARD, **options: Any) -> tuple[FailureCause, ...]:
    """Return what the detector of a module finds; one that fails is no detector that finds nothing."""
    diagnosis = diagnose(
        session_of(*events), profile=profile, options=Options(**options), detectors=(detector.DETECTOR,)
    )
    assert [note.message for note in diagnosis.notes if note.code == "detector-failed"] == []
    return diagnosis.failure_causes


def heard(text: str) -> Raw:
    """Return a message of the user."""
    return {"event_type": "message_received", "payload": {"role": "user", "text": text}}


def said(text: str) -> Raw:
    """Return a message of the agent."""
    return {"event_type": "message_sent", "payload": {"text": text}}


def tool(
    name: str | None, args: Any = None, result: Any = _NOTHING, *, error: str | None = None, **more: Any
) -> list[Raw]:
    """Return a call and its output, if it has one."""
    named = {} if name is None else {"tool": name}
    begun = {"event": "tool_call", **named, "args": {} if args is None else args, **more}
    if error is not None:
        return [begun, {"event": "tool_output", **named, "status": "error", "error": error, **more}]
    return [begun] if result is _NOTHING else [begun, {"event": "tool_output", **named, "output": result, **more}]


def response(agent: str = "helper", **payload: Any) -> Raw:
    """Return the response of a model."""
    failed = {"status": "error", "error": payload.pop("error")} if "error" in payload else {"status": "ok"}
    told = {"model": "m", "agent": agent, **payload}
    return {"event_type": "after_provider_response", "event": "token_usage", **failed, "payload": told}


def asks(*calls: tuple[str, str, Any], text: str | None = None, **payload: Any) -> Raw:
    """Return a response that asks for calls, each an id, a tool and its arguments."""
    requests = [{"id": call_id, "name": name, "arguments": args} for call_id, name, args in calls]
    message = {"role": "assistant", "tool_requests": requests, **({} if text is None else {"text": text})}
    return response(messages=[message], **payload)


def context(**told: Any) -> Raw:
    """Return a context event."""
    return {"event": "context_event", **told}
