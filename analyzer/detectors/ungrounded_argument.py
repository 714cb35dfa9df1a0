"""A tool was called with an id that nobody had ever mentioned.

## What it does
Reports arguments under names that stand for ids (`order_id`, `account`, `email`, `reference`) whose value occurs
nowhere before the call: not in what users or instructions say, nor in results, nor in the tools' own description.
Severity high where the call failed, medium where it went through. Confidence medium; derived.

## Why is this bad
The model made the id up. Where it exists by accident, somebody else's order is changed.

## Example
```json
[
  {"event_type": "message_received", "payload": {"role": "user", "text": "Where is my parcel?"}},
  {"event": "tool_call", "tool": "get_order", "args": {"order_id": "W-884213"}},
  {"event": "tool_output", "tool": "get_order", "output": "Error: no such order", "status": "error"}
]
```

## How to fix
Let the agent look the id up first, say in the tool's description where its values come from, and check them in the
tool.

## Known limits
Needs traces that carry messages, arguments and results. Ids that a tool creates, and values that are computed, are not
looked at; an id that came in a shortened result looks made up.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.jsontext import canonical
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.sentences import quoted
from analyzer.timeline.tool_purpose import runs_anything
from analyzer.timeline.tool_words import name_words

__all__ = ["DETECTOR"]

TYPE = "ungrounded_argument"
IMPACT = {Severity.MEDIUM: -12, Severity.HIGH: -20}
MOST_TEXT = 200_000
RECENT = 8
_ATOM = pattern(r"[^\W_]+")
_STANDS_FOR_ID = frozenset(
    ("id", "ids", "uuid", "guid", "email", "mail", "iban", "account", "reference", "ref", "order", "ticket", "invoice")
)
# Ids that frameworks fill in, not models.
_FILLED_IN = frozenset(
    [
        *("session", "thread", "request", "trace", "run", "conversation", "message", "call", "tenant", "correlation"),
        *("idempotency", "device", "client", "process", "task", "job", "agent", "context", "chat", "channel"),
    ]
)
_CREATES = frozenset(
    ("create", "add", "new", "register", "insert", "generate", "start", "open", "init", "make", "save")
)
_SHORTEST = 5
_DATE = pattern(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_NEEDED = (Fact.TOOL_CALLS, Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS, Fact.MESSAGES)
_CUT = pattern(r"…|\.\.\.|[\[<(]truncated|omitted|\[redacted")
"""What was left out may hold any id."""
FIX = "Let the agent look the id up first, and check it in the tool."
WHY = Why(
    "The model filled an argument with an id that it had made up.",
    "The call fails, or it hits something else than was meant.",
    FIX,
)


class _Invented(NamedTuple):
    call: Call
    name: str
    value: str


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for the ids that come from nowhere."""
    if timeline.memory or not timeline.conversation.by(Role.USER) or any(fact in timeline.missing for fact in _NEEDED):
        return
    invented = list(_invented(timeline))
    if invented:
        yield _cause(timeline, invented)


def _invented(timeline: Timeline) -> Iterator[_Invented]:
    """Yield the ids that nothing before their call holds."""
    before: _Before | None = None
    for call in timeline.work:
        for name, value in _ids(call):
            atoms = [atom for atom in _atoms(value) if any(sign.isdigit() for sign in atom)]
            if not atoms:
                continue
            before = before or _Before(timeline)
            if not before.holds(atoms, call.position):
                yield _Invented(call, name, value)


class _Before:
    """What was said, given and asked for before a place in the run.

    Ids come from what was just said, as a rule: the last few texts are searched as they are, and only where they don't
    hold an id, all texts are taken apart, once.
    """

    def __init__(self, timeline: Timeline) -> None:
        told = [(one.position, one.text) for one in timeline.conversation.utterances]
        given = [(call.output_position, call.result) for call in timeline.calls if call.result is not ABSENT]
        asked = [(call.position, call.arguments) for call in timeline.calls if call.arguments is not ABSENT]
        orphans = [(timeline.position_of[output.event_id], output.payload) for output in timeline.orphan_outputs]
        self._things: list[tuple[int, Json]] = sorted((*told, *given, *asked, *orphans), key=itemgetter(0))
        self._places = [position for position, _ in self._things]
        self._tools = timeline.offered.tools.values()
        self._first: dict[str, int] | None = None
        self._cut = len(timeline.events)

    def holds(self, atoms: Sequence[str], position: int) -> bool:
        """Return whether something before a position holds one of these, or was shortened."""
        place = bisect_left(self._places, position)
        for _, thing in reversed(self._things[max(0, place - RECENT) : place]):
            text = _json(thing)
            if any(atom in text for atom in atoms):
                return True
        first = self._all()
        return self._cut < position or any(first.get(atom.lower(), position) < position for atom in atoms)

    def _all(self) -> dict[str, int]:
        """Return where each word stands first; -1 for the descriptions of tools."""
        if self._first is None:
            first: dict[str, int] = {}
            for tool in self._tools:
                first.update(
                    dict.fromkeys(_atoms(f"{tool.name} {tool.description} {_json(tool.parameters)}".lower()), -1)
                )
            for position, thing in self._things:
                text = _json(thing).lower()
                if position < self._cut and _CUT.search(text[:MOST_TEXT]):
                    self._cut = position
                for atom in _atoms(text):
                    first.setdefault(atom, position)
            self._first = first
        return self._first


def _atoms(text: str) -> list[str]:
    return [atom for atom in _ATOM.findall(text[:MOST_TEXT]) if len(atom) >= _SHORTEST - 1]


def _json(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value).decode("utf-8", "replace")


def _ids(call: Call) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a call that stand for an id, each value of a list apart."""
    if call.tool is None or not is_object(call.arguments) or call.pseudo or runs_anything(call.tool):
        return
    if not _CREATES.isdisjoint(name_words(call.tool)):
        return
    for name, value in call.arguments.items():
        words = name_words(name)
        if _STANDS_FOR_ID.isdisjoint(words[-1:]) or not _FILLED_IN.isdisjoint(words):
            continue
        for one in value if is_list(value) else (value,):
            text = one if isinstance(one, str) else str(one) if isinstance(one, int) else ""
            if _SHORTEST <= len(text) <= 64 and not _DATE.fullmatch(text):  # noqa: PLR2004  # longer ones are texts
                yield name, text


def _cause(timeline: Timeline, invented: Sequence[_Invented]) -> FailureCause:
    first = next((one for one in invented if one.call.status == "error"), invented[0])
    severity = Severity.HIGH if first.call.status == "error" else Severity.MEDIUM
    impact = IMPACT[severity]
    others = f", and {len(invented) - 1} more" if len(invented) > 1 else ""
    places = dict.fromkeys(place for one in (first, *invented) for place in timeline.places_of(one.call))
    return FailureCause(
        type=TYPE,
        severity=severity,
        impact=impact,
        description=(
            f"{call_text(first.call)}: nothing before it holds the {first.name} {quoted(first.value)}{others}."
        ),
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="value-from-nowhere",
        fingerprint=fingerprint(TYPE, first.call.tool, first.name),
        **shown_by(timeline.events[place] for place in places),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A tool was called with an id that nobody had mentioned",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS, Fact.MESSAGES}),
    steps=("id_not_known", "id_invented", "tool_call"),
    find={Profile.STANDARD: find},
)
