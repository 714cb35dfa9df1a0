"""What became of each memory operation, counted once however many events report it."""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from analyzer.remembered import remembered
from analyzer.session.accessors import ABSENT, ACTION, OUTCOME, RESULT, first_given, name_of, payload_of, tool_of
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_object
from analyzer.timeline.call import Call
from analyzer.timeline.outcome import outcome_of, unblocked
from analyzer.timeline.tool_words import is_lookup, name_words

__all__ = ["MemoryOperation", "MemoryOperations", "keeps", "recalls"]

_CHANGES = frozenset(("store", "update", "delete", "create", "upsert", "add", "save", "write", "clear"))
_STORED = frozenset(("store", "stored", "saved", "created", "updated", "written", "added"))
_MEMORY = frozenset(("memory", "memories"))
_ENDS = frozenset(("tool_result", "tool_execution_end"))


class MemoryOperation(Struct, frozen=True, kw_only=True):
    """One search, look-up or change of the agent's memory."""

    events: tuple[Event, ...]
    tool: str | None
    failed: bool
    """It ended with an error."""
    found_nothing: bool
    """A look-up that came back empty."""
    changes: bool = False
    """It puts something in, or takes it out."""

    @property
    def event(self) -> Event:
        """The event that tells most of it: the last."""
        return self.events[-1]


class MemoryOperations:
    """Memory events as they come, those of one operation together.

    Events of one span, and the copies that the plugin makes of a memory tool's events, are one operation.
    """

    def __init__(self) -> None:
        self._groups: list[list[Event]] = []
        self._open: dict[Hashable, _Group] = {}

    def add(self, event: Event) -> None:
        """Take a memory event."""
        key = event.span if event.span is not None else event.tool_call_id
        if key is None:
            self._groups.append([event])
            return
        stage = _stage(event)
        known = self._open.get(key)
        if known is None or stage in known.stages:
            known = self._open[key] = _Group([], set())
            self._groups.append(known.events)
        known.events.append(event)
        known.stages.add(stage)

    def all(self) -> list[MemoryOperation]:
        """Return the operations in order of their first event."""
        return [_operation(tuple(group)) for group in self._groups]


def recalls(calls: Iterable[Call], events: Sequence[Event], known: Iterable[MemoryOperation]) -> list[MemoryOperation]:
    """Return the calls of tools that look into a memory by their name, and that no memory event tells of."""
    told = [event for operation in known for event in operation.events]
    spans = {event.span for event in told if event.span is not None}
    call_ids = {event.tool_call_id for event in told if event.tool_call_id is not None}
    return [
        _recall(call, events)
        for call in calls
        if call.output_position >= 0
        and _recalls(call.tool or "")
        and call.call_id not in call_ids
        and call.span not in spans
    ]


def keeps(call: Call) -> bool:
    """Return whether a call of a tool puts something into a memory, by the tool's name."""
    words = () if call.tool is None else name_words(call.tool)
    return "remember" in words or (not _MEMORY.isdisjoint(words) and not _CHANGES.isdisjoint(words))


@remembered(1024)
def _recalls(tool: str) -> bool:
    words = name_words(tool)
    return "recall" in words or (not _MEMORY.isdisjoint(words) and is_lookup(tool))


def _recall(call: Call, events: Sequence[Event]) -> MemoryOperation:
    failed = call.status == "error"
    return MemoryOperation(
        events=(events[call.position], events[call.output_position]),
        tool=call.tool,
        failed=failed,
        found_nothing=not failed and call.result is not ABSENT and _is_empty(unblocked(call.result)),
    )


class _Group(NamedTuple):
    events: list[Event]
    stages: set[str]


def _stage(event: Event) -> str:
    observed = payload_of(event).get("observed_as")
    if isinstance(observed, str):
        return observed
    return "end" if event.status is not None else "start"


def _operation(events: tuple[Event, ...]) -> MemoryOperation:
    ends = [event for event in events if _is_end(event)]
    failed = any(_failed(event) for event in ends)
    looks_up = _word(events[0]) not in _CHANGES and not any(_stored(event) for event in events)
    return MemoryOperation(
        events=events,
        tool=tool_of(events[-1]),
        failed=failed,
        found_nothing=looks_up and not failed and any(_found_nothing(event) for event in ends),
        changes=not looks_up,
    )


def _is_end(event: Event) -> bool:
    observed = payload_of(event).get("observed_as")
    return observed in _ENDS if isinstance(observed, str) else True


def _word(event: Event) -> str:
    """Return what the operation is called: by the payload, else by the last word of its name (`memory_store`)."""
    operation = payload_of(event).get("operation")
    return operation if isinstance(operation, str) else name_of(event).rpartition("_")[2]


def _stored(event: Event) -> bool:
    action = first_given(event, ACTION)
    return isinstance(action, str) and action in _STORED


def _failed(event: Event) -> bool:
    return first_given(event, OUTCOME) == "error" or outcome_of(event, first_given(event, RESULT)).status == "error"


def _found_nothing(event: Event) -> bool:
    payload = payload_of(event)
    if first_given(event, OUTCOME) == "miss" or payload.get("record_count") == 0 or payload.get("records") == []:
        return True
    result = first_given(event, RESULT)
    return result is not ABSENT and _is_empty(unblocked(result))


def _is_empty(value: Json) -> bool:
    """Return whether a look-up's result holds nothing: empty itself, or all its lists of findings are."""
    if value is None or value in ("", [], {}):
        return True
    if not is_object(value):
        return False
    findings = [value[name] for name in ("results", "records", "memories", "matches", "documents") if name in value]
    return bool(findings) and all(not found for found in findings)
