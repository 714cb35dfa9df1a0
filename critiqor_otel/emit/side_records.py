"""What an agent does beside calling tools and models: a recorder's methods for retries, memory, context, skills."""

from collections.abc import Mapping
from typing import Any

from analyzer.evaluation.evidence import ToolCall, ToolOutput
from analyzer.evaluation.frozen import freeze
from analyzer.lenient import as_text
from analyzer.session.accessors import (
    ABSENT,
    ARGUMENTS,
    RESULT,
    call_id_of,
    first_given,
    payload_of,
    tool_of,
)
from analyzer.session.event_form import read_event
from analyzer.session.model import EventKind
from critiqor_otel.emit.recording import Recording

__all__ = ["SideRecords"]


class SideRecords:
    """The methods of a recorder for those; each is one event of the session."""

    def __init__(self, recording: Recording) -> None:
        """Take the recording they go into."""
        self._recording = recording

    def record_retry(self, tool: str | None = None, *, attempt: int | None = None, reason: str | None = None) -> None:
        """Record that a call is made once more."""
        with self._recording.ledger.lock:
            self._recording.ledger.retries += 1
        facts = {"attempt": attempt, "reason": reason}
        # Evaluation counts trace events named `retry` beside the metrics: this name keeps it at once.
        self._recording.record("retry_event", {"tool": tool, **facts}, payload=facts, tool_name=tool)

    def record_memory(self, operation: str, *, outcome: str | None = None, **facts: Any) -> None:
        """Record a look-up or change of the agent's memory: `search`, `get`, `create`, `update`, `delete`.

        The outcome is `hit`, `miss` or `error`; further facts are `query`, `store`, `records`, `record_count`.
        """
        kept = {"operation": operation, "outcome": outcome, **freeze(facts)}
        status = "error" if outcome == "error" else "ok"
        self._recording.record(f"memory_{operation}", kept, payload=kept, status=status)

    def record_context(self, *, used: int | None = None, window: int | None = None, action: str | None = None) -> None:
        """Record how full the context window is, in tokens, or what was done about it: `action="compaction"`."""
        facts = {
            "used": used,
            "window": window,
            "saturation": 100 * used / window if used is not None and window else None,
            "action": action,
        }
        self._recording.record("compaction" if action == "compaction" else "context", facts, payload=facts)

    def record_skill(
        self, skill: str, *, invoked: bool = True, status: str | None = None, resource: str | None = None
    ) -> None:
        """Record that a skill was loaded or read, or that it was there and not used (`invoked=False`)."""
        facts = {"skill": skill, "resource": resource, "invoked": invoked, "status": status}
        name = "skill_load" if resource is None else "skill_read"
        self._recording.record(name, facts, payload={**facts, "status": None}, status=status)

    def record_decision(self, reason: str, **facts: Any) -> None:
        """Record what the agent decided, and why."""
        kept = {"reason": reason, **freeze(facts)}
        self._recording.record("decision", kept, payload={**kept, "agent": self._recording.agent.name})

    def record_error(self, error: str, *, message: str | None = None, **facts: Any) -> None:
        """Record an error that no exception of this process told: `record_error("timeout", timeout=30)`."""
        with self._recording.ledger.lock:
            self._recording.ledger.errors.append(error if message is None else f"{error}: {message}")
        kept = {"error": error, "message": message, **freeze(facts)}
        told = {"error_type": error, "message": message, **freeze(facts)}
        self._recording.record("error_event", kept, payload=told, error=message or error)

    def record_given(self, raw: Mapping[str, Any]) -> None:
        """Record an event that another process told, in any spelling that session files know.

        Calls and outputs of tools and the tokens of model calls count as if they had been recorded here.
        """
        event, _ = read_event(dict(raw), 0)
        ledger = self._recording.ledger
        with ledger.lock:
            match event.event:
                case EventKind.TOOL_CALL:
                    arguments = first_given(event, ARGUMENTS)
                    ledger.tool_calls.append(ToolCall(tool_of(event) or "", arguments or {}, call_id_of(event)))
                case EventKind.TOOL_OUTPUT:
                    output = first_given(event, RESULT)
                    error = None if event.error is None else as_text(event.error)
                    ledger.tool_outputs.append(
                        ToolOutput(tool_of(event) or "", "" if output is ABSENT else output, call_id_of(event), error)
                    )
                case EventKind.TOKEN_USAGE:
                    ledger.add_usage(event.extra.get("usage") or payload_of(event).get("usage"))
                case EventKind.RETRY_EVENT:
                    ledger.retries += 1
                case _:
                    pass
        facts = {name: value for name, value in raw.items() if name not in ("event", "timestamp")}
        self._recording.record(event.event_type, facts, payload={}, given=event)
