"""What an agent does beside calling tools and models: a recorder's methods for retries, memory, context, skills."""

from typing import Any

from analyzer.evaluation.frozen import freeze
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
