"""May the content of messages, arguments and results leave the process? What goes out instead when it may not.

Decided by an option, else by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, else no. Without content an event
keeps what names, counts and orders it, and keyed fingerprints in place of values: loops, duplicates and re-use are
still found. Secrets are scrubbed in any case.
"""

import os
from typing import Any

import msgspec

from analyzer.session.accessors import (
    ABSENT,
    ARGUMENTS,
    RESULT,
    Places,
    call_id_of,
    first_given,
    payload_of,
)
from analyzer.session.model import Event, EventKind, Json
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.emit.redaction import Redaction

__all__ = ["CAPTURE_VARIABLE", "Content", "captures_content"]

CAPTURE_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS = frozenset(("true", "1", "yes", "span_only", "span_and_event"))

_KEPT = frozenset(
    [
        "agent",
        "action",
        "attempt",
        "basis",
        "cost_usd",
        "error_type",
        "event_type",
        "exit_code",
        "exitCode",
        "finish_reasons",
        "in_call",
        "input_fingerprint",
        "input_parts",
        "message_parts",
        "invoked",
        "latency",
        "max_tokens",
        "messages_total",
        "model",
        "operation",
        "outcome",
        "pid",
        "provider",
        "pseudo",
        "record_count",
        "resource",
        "result_fingerprint",
        "result_parts",
        "saturation",
        "saturation_score",
        "scope",
        "score",
        "skill",
        "store",
        "stream",
        "sub_agent",
        "timeout",
        "timed_out",
        "tool_name",
        "tool_call_id",
        "total",
        "unfinished",
        "usage",
        "used",
        "window",
        "where",
        "referenced",
        "status",
        "label",
        "framework",
    ]
)
"""Keys of payloads, and of fields beside them, that name, count or order and hold no content."""

_SPOKEN = Places((), ("messages", "output", "text"))
_ASKED = Places((), ("query", "prompt"))


def captures_content(option: bool | None = None) -> bool:  # noqa: FBT001  # a value from a user, not a switch in code
    """Return whether content may stand on exported spans."""
    if option is not None:
        return option
    return os.environ.get(CAPTURE_VARIABLE, "").strip().lower() in _ON_SPANS


class Content:
    """What of an event may leave the process."""

    def __init__(self, *, capture: bool, redaction: Redaction | None, fingerprints: Fingerprints) -> None:
        """Take the decision, the rules for secrets (None: none apply), and what makes fingerprints."""
        self.capture = capture
        self.fingerprints = fingerprints
        self._redaction = redaction

    def event(self, event: Event) -> Event:
        """Return the event as it may leave."""
        told = event if self.capture else self._withheld(event)
        return told if self._redaction is None else self._redaction.event(told)

    def text(self, text: str) -> str:
        """Return a text that may leave: an exception's message, a name."""
        return text if self._redaction is None else self._redaction.text(text)

    def _withheld(self, event: Event) -> Event:
        payload, extra = payload_of(event), event.extra
        kept = {key: value for key, value in payload.items() if key in _KEPT}
        beside = {key: value for key, value in extra.items() if key in _KEPT}
        withheld = sorted({*payload, *extra} - {*kept, *beside})
        if withheld:
            kept["withheld"] = withheld
        return msgspec.structs.replace(event, payload={**kept, **self.prints(event)}, extra=beside)

    def prints(self, event: Event) -> dict[str, Any]:
        """Return the fingerprints of an event's content."""
        known = payload_of(event)
        found: dict[str, Any] = {}
        for prefix, places in (("input", ARGUMENTS), ("result", RESULT), ("input", _ASKED), ("message", _SPOKEN)):
            value = first_given(event, places)
            if value is ABSENT or value is None or f"{prefix}_fingerprint" in (*known, *found):
                continue
            if prefix != "message":
                found[f"{prefix}_fingerprint"] = self._whole(event, prefix, value)
            found[f"{prefix}_parts"] = self.fingerprints.parts(value)
        return found

    def _whole(self, event: Event, prefix: str, value: Json) -> str:
        if prefix == "result" and event.event == EventKind.TOOL_OUTPUT:
            return self.fingerprints.of_result(value, call_id_of(event))
        return self.fingerprints.of(value)
