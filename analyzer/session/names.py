"""Raw event name → kind: which of the thirteen kinds an observed name is."""

from collections.abc import Mapping

from analyzer.session.model import EventKind

__all__ = ["KINDS", "NAMELESS", "kind_of"]

NAMELESS = EventKind.PROCESS_OUTPUT
"""What an event without any name counts as (critiqor.session.v1)."""

_OBSERVED: Mapping[EventKind, tuple[str, ...]] = {
    EventKind.TOOL_CALL: ("tool_execution_start", "tool_start"),
    EventKind.TOOL_OUTPUT: ("tool_result", "tool_execution_end", "tool_end"),
    EventKind.RETRY_EVENT: ("retry",),
    EventKind.ERROR_EVENT: ("error", "evidence_parse_error"),
    EventKind.DECISION: ("plan",),
    EventKind.TOKEN_USAGE: ("after_provider_response", "usage_report", "llm_call"),
    EventKind.CONTEXT_EVENT: ("context", "compaction"),
    EventKind.STATE_TRANSITION: (
        *("agent_start", "agent_end", "agent_finish"),
        *("turn_start", "turn_end"),
        *("session_start", "session_end"),
        *("message_received", "message_sent", "message_start", "message_update", "message_end"),
        *("input", "user_bash", "before_provider_request", "tool_execution_update"),
    ),
}

KINDS: Mapping[str, EventKind] = {
    **{kind.value: kind for kind in EventKind},
    **{name: kind for kind, names in _OBSERVED.items() for name in names},
}
"""Every name with a fixed kind."""

# Memory and skill operations are an open set: memory_search, memory_get, memory_upsert, skill_load, …
_FAMILIES = (("memory_", EventKind.MEMORY_EVENT), ("skill_", EventKind.SKILL_EVENT))


def kind_of(name: str) -> str:
    """Return the kind an observed name stands for, or the name itself where no kind fits."""
    kind = KINDS.get(name)
    if kind is not None:
        return kind.value
    for prefix, family in _FAMILIES:
        if name.startswith(prefix):
            return family.value
    return name
