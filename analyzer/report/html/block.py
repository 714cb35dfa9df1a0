"""The data of a page: columns of numbers and a table of texts, small enough to embed, harmless wherever it stands.

A run of 100,000 events must fit into a file of 5 MB: texts stand once, numbers are differences, contents are cut, and
all is compressed where that pays.
"""

import base64
import gzip
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.report.exhibits import exhibit
from analyzer.report.html.contents import answer_of, parts_of
from analyzer.report.html.folding import fold
from analyzer.report.html.steps import RunStep, StepKind, steps_of
from analyzer.report.html.ties import Ties, causes_of, edges_of, root_of
from analyzer.report.json_form import encode_json
from analyzer.report.plain import cut, one_line
from analyzer.session.accessors import payload_of
from analyzer.session.model import Event, EventKind
from analyzer.timeline.index import Timeline
from analyzer.timeline.tokens import usage_of
from analyzer.verdict import Diagnosis

__all__ = ["MAX_BYTES", "MAX_STEPS", "Block", "block_of", "embedded"]

MAX_STEPS = 40_000
"""Steps shown one by one; the others are counted."""
MAX_BYTES = 3_400_000
"""Of the block as it stands in the page."""

_CONTENT = 6_000_000  # characters of contents, all together
_EVIDENCE_CONTENT = 20_000  # characters of one part of what a failure points to
_LEAST_CONTENT = 80
_DETAIL = 120
_PLAIN_BYTES = 200_000  # a smaller block stays readable
_KINDS = {kind: number for number, kind in enumerate(StepKind)}
_LARGEST = 2**52
_FAILED, _AGAIN, _PSEUDO, _DERIVED = 1, 2, 4, 8


class Block(NamedTuple):
    """Embedded data and how to read it."""

    text: str
    """Safe as the text of an element: no `<`, no `&`."""
    encoding: str
    """`json`, or `gzip`: base64 of compressed JSON."""


def embedded(value: Any) -> Block:
    """Return the value as text that can't end or alter the element it stands in."""
    plain = encode_json(value)
    if len(plain) <= _PLAIN_BYTES:
        escaped = plain.replace(b"&", b"\\u0026").replace(b"<", b"\\u003c").replace(b">", b"\\u003e")
        return Block(escaped.decode(), "json")
    return Block(base64.b64encode(gzip.compress(plain, compresslevel=9, mtime=0)).decode(), "gzip")


def block_of(timeline: Timeline, diagnosis: Diagnosis) -> Block:
    """Return the data of a run's page; contents are cut until it fits `MAX_BYTES`."""
    evidence = _evidence(timeline, diagnosis)
    steps, left_out = fold(steps_of(timeline), evidence, MAX_STEPS)
    content = _CONTENT
    while True:
        block = embedded(_document(timeline, diagnosis, _Shown(steps, left_out, evidence, content)))
        if len(block.text) <= MAX_BYTES or content == 0:
            return block
        content = content // 3 if content > _CONTENT // 100 else 0


class _Shown(NamedTuple):
    """What of a run is shown, and how much of its contents."""

    steps: list[RunStep]
    left_out: int
    evidence: set[int]
    content: int


def _evidence(timeline: Timeline, diagnosis: Diagnosis) -> set[int]:
    places = timeline.position_of
    return {places[one] for cause in diagnosis.failure_causes for one in cause.evidence if one in places}


def _document(timeline: Timeline, diagnosis: Diagnosis, shown: _Shown) -> dict[str, Any]:
    texts = _Texts()
    positions = [position for step in shown.steps for position in step.events]
    positions.sort()
    index = {position: number for number, position in enumerate(positions)}
    events = [timeline.events[position] for position in positions]
    times = [time for step in shown.steps for time in (step.start_ns, step.end_ns) if time is not None]
    start = min(times, default=0)
    step_of = {position: number for number, step in enumerate(shown.steps) for position in step.events}
    ties = Ties(places=timeline.position_of, shown=index, step_of=step_of)
    return {
        "start": _bounded(start // 1_000_000),
        "timed": bool(times),
        "left_out": shown.left_out,
        "kinds": [kind.value for kind in StepKind],
        "steps": _step_columns(timeline, shown, start, texts),
        "events": _event_columns(events, [step_of[position] for position in positions], start, texts),
        "contents": _contents(timeline, positions, shown, texts),
        "causes": causes_of(diagnosis, ties),
        "roots": [root_of(one, ties) for one in diagnosis.roots.candidates],
        "edges": edges_of(diagnosis, ties, texts.number),
        "usage": _usage(timeline, index),
        "texts": texts.all,
    }


class _Texts:
    """Gives each text a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def all(self) -> list[str]:
        return list(self._numbers)


def _step_columns(timeline: Timeline, shown: _Shown, start: int, texts: _Texts) -> dict[str, list[int]]:
    brief = _DETAIL if len(shown.steps) * _DETAIL <= shown.content // 2 else _DETAIL // 3
    columns: dict[str, list[int]] = {
        name: [] for name in ("kind", "name", "detail", "parent", "start", "length", "flags", "folded")
    }
    before = 0
    for step in shown.steps:
        at = before if step.start_ns is None else (step.start_ns - start) // 1000
        ends = at if step.end_ns is None else (step.end_ns - start) // 1000
        columns["kind"].append(_KINDS[step.kind])
        columns["name"].append(texts.number(_harmless(step.name)))
        columns["detail"].append(texts.number(_detail(timeline, step, brief)))
        columns["parent"].append(step.parent)
        columns["start"].append(_bounded(at - before))
        columns["length"].append(_bounded(max(0, ends - at)))
        columns["flags"].append(_flags(timeline, step))
        columns["folded"].append(step.folded)
        before = at
    return columns


def _detail(timeline: Timeline, step: RunStep, longest: int) -> str:
    """Return what a tool was asked, what a model answered, else what the first event that tells something tells."""
    events = [timeline.events[position] for position in step.events[:_LOOKED_AT]]
    for event in reversed(events) if step.kind is StepKind.MODEL else events:
        text = answer_of(event) if step.kind is StepKind.MODEL else exhibit(event).detail
        if text:
            return cut(text, longest)
    return ""


_LOOKED_AT = 4  # events of a step


def _flags(timeline: Timeline, step: RunStep) -> int:
    payload: Mapping[str, Any] = payload_of(timeline.events[step.events[0]]) if step.events else {}
    return (
        _FAILED * step.failed
        | _AGAIN * step.again
        | _PSEUDO * (payload.get("pseudo") is True)
        | _DERIVED * (payload.get("basis") == "derived")
    )


def _event_columns(events: Sequence[Event], step_of: list[int], start: int, texts: _Texts) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in ("id", "type", "time", "trace", "span")}
    for event in events:
        span = event.span
        columns["id"].append(_id(event))
        columns["type"].append(texts.number(_harmless(event.event_type)))
        columns["time"].append(None if event.time_ns is None else _bounded((event.time_ns - start) // 1000))
        columns["trace"].append(-1 if span is None else texts.number(_harmless(span.trace_id)))
        columns["span"].append(0 if span is None else _harmless(span.span_id))
    return {**columns, "step": step_of}


def _id(event: Event) -> str:
    """Return the event's id; `~` stands for its span's, which begins the ids of events made from spans."""
    if event.span is not None and event.event_id.startswith(f"{event.span.span_id}:"):
        return f"~{_harmless(event.event_id.removeprefix(event.span.span_id))}"
    return f"={_harmless(event.event_id)}"


def _harmless(text: str) -> str:
    return cut(one_line(text), _DETAIL)


def _contents(
    timeline: Timeline, positions: Sequence[int], shown: _Shown, texts: _Texts
) -> list[list[tuple[int, int, int, int]] | int]:
    """Return the parts of each event (label, text, is JSON, characters left out), or 0 for an event without any."""
    usual = min(_EVIDENCE_CONTENT, shown.content // max(1, len(positions)))
    usual = usual if usual >= _LEAST_CONTENT else 0
    telling = min(_EVIDENCE_CONTENT, shown.content // max(1, len(shown.evidence)))
    found: list[list[tuple[int, int, int, int]] | int] = []
    for position in positions:
        longest = telling if position in shown.evidence else usual
        parts = parts_of(timeline.events[position], longest) if longest else ()
        rows = [(texts.number(part.label), texts.number(part.text), int(part.is_json), part.left_out) for part in parts]
        found.append(rows or 0)
    return found


def _usage(timeline: Timeline, index: Mapping[int, int]) -> list[list[int | None]]:
    """Return what each event that reports usage reports: event, input, output, cached input, total."""
    found: list[list[int | None]] = []
    for event in timeline.of_kind(EventKind.TOKEN_USAGE):
        usage = usage_of(event)
        place = index.get(timeline.position_of.get(event.event_id, -1))
        if usage is not None and place is not None:
            counts = (usage.input, usage.output, usage.cached_input, usage.total)
            found.append([place, *(None if count is None else _bounded(count) for count in counts)])
    return found


def _bounded(number: int) -> int:
    """Return the number, or the nearest that a page can count with."""
    return max(-_LARGEST, min(_LARGEST, number))
