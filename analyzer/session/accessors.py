"""Where a fact stands on an event, whatever spelling it came in: one accessor a concept (docs/session.md, reading)."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_object

__all__ = [
    "ABSENT",
    "ACTION",
    "ARGUMENTS",
    "ARGUMENTS_FINGERPRINT",
    "EXIT_CODE",
    "INVOKED",
    "OUTCOME",
    "REFERENCED",
    "RESULT",
    "RESULT_FINGERPRINT",
    "SATURATION",
    "STATUS",
    "USED",
    "Absent",
    "LookUp",
    "Places",
    "call_id_of",
    "first_given",
    "first_present",
    "label_of",
    "name_of",
    "payload_of",
    "skill_of",
    "subject_of",
    "text_of",
    "tool_of",
    "word_of",
]

Absent: TypeAlias = UnsetType
ABSENT: Final = UNSET
"""No such fact: differs from null, which is a value."""


class Places(NamedTuple):
    """The names of one concept: at the event's top level and in its payload, the first that is there counts."""

    top: tuple[str, ...]
    payload: tuple[str, ...]


ARGUMENTS = Places(("args", "arguments"), ("input", "args", "arguments"))
ARGUMENTS_FINGERPRINT = Places((), ("input_fingerprint",))
RESULT = Places(("output", "result"), ("result", "output", "content"))
RESULT_FINGERPRINT = Places((), ("result_fingerprint",))
EXIT_CODE = Places(("exit_code",), ("exit_code", "exitCode"))
ACTION = Places(("action",), ("action",))
STATUS = Places(("status",), ("status",))
OUTCOME = Places(("outcome",), ("outcome",))
USED = Places(("used",), ("used",))
REFERENCED = Places(("referenced",), ("referenced",))
SATURATION = Places(("saturation", "saturation_score"), ("saturation", "saturation_score"))
INVOKED = Places(("invoked",), ("invoked",))

_TOOL = Places(("tool",), ("tool_name", "toolName", "tool"))
_CALL_ID = Places(("call_id",), ("tool_call_id", "toolCallId", "call_id"))
_SKILL = Places(("skill",), ("skill",))
_NAME = Places(("name",), ("name",))
_SUBJECT = Places(("tool", "name", "skill"), (*_TOOL.payload, "name", "skill", "agent", "model"))
_NAMED_INSIDE = Places((), (*_TOOL.payload, "name", "skill"))
_OBSERVED_NAME = "openclaw_event_type"  # critiqor.session.v1, finalised: the plugin's own name for the event
_NOTHING: dict[str, Any] = {}

LookUp: TypeAlias = Callable[[Event, Places], Json | Absent]


def first_given(event: Event, places: Places) -> Json | Absent:
    """Return the first value that is not null; null when only nulls are there; ABSENT when nothing is."""
    found: Json | Absent = ABSENT
    if event.extra:
        found = _first(event.extra, places.top)
        if found is not None and found is not ABSENT:
            return found
    payload = event.payload
    if is_object(payload):
        for name in places.payload:
            if name in payload:
                found = payload[name]
                if found is not None:
                    return found
    return found


def _first(fields: dict[str, Any], names: tuple[str, ...]) -> Json | Absent:
    found: Json | Absent = ABSENT
    for name in names:
        if name in fields:
            value = fields[name]
            if value is not None:
                return value
            found = None
    return found


def first_present(event: Event, places: Places) -> Json | Absent:
    """Return the first value that is there, null too; ABSENT when nothing is (critiqor 0.1.4)."""
    for name in places.top:
        if name in event.extra:
            return event.extra[name]
    payload = event.payload
    if is_object(payload):
        for name in places.payload:
            if name in payload:
                return payload[name]
    return ABSENT


def payload_of(event: Event) -> dict[str, Any]:
    """Return the payload, an empty one when it is no object."""
    payload = event.payload
    return payload if is_object(payload) else _NOTHING


def name_of(event: Event) -> str:
    """Return the name the event was first observed under."""
    payload = event.payload
    if is_object(payload):
        observed = payload.get(_OBSERVED_NAME)
        if isinstance(observed, str):
            return observed
    return event.event_type


def tool_of(event: Event) -> str | None:
    """Return the tool's name."""
    return event.tool_name if event.tool_name is not None else text_of(event, _TOOL)


def call_id_of(event: Event) -> str | None:
    """Return the id that ties a call to its output."""
    return event.tool_call_id if event.tool_call_id is not None else text_of(event, _CALL_ID)


def skill_of(event: Event) -> str | None:
    """Return the skill's name."""
    return text_of(event, _SKILL) or text_of(event, _NAME)


def label_of(event: Event) -> str:
    """Return what the event is about: the first of tool, name and skill that is not empty, else its kind.

    As critiqor 0.1.4 has it, whatever the type; where none stands at the top level, the plugin's spellings are read.
    """
    named = filter(None, map(event.extra.get, _SUBJECT.top))
    return str(next(named, "")) or event.tool_name or text_of(event, _NAMED_INSIDE) or event.event


def subject_of(event: Event) -> str:
    """Return what the event is about, for people: its tool, name, skill, agent or model, else its observed name."""
    return event.tool_name or text_of(event, _SUBJECT) or event.event_type


def text_of(event: Event, places: Places) -> str | None:
    """Return a fact as text; None when it is absent, null or an object."""
    value = first_given(event, places)
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else None


def word_of(value: Json | Absent) -> str | None:
    """Return a status or an action in lower case, or None when it is no text."""
    return value.lower() if isinstance(value, str) else None
