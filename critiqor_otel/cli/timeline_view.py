"""A run as a timeline: an event a line, indented by the spans around it, marked where a failure points to it."""

import io
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from analyzer.report import words
from analyzer.report.exhibits import clock, exhibit
from analyzer.report.plain import one_line
from analyzer.report.report import Look
from analyzer.session.model import Event, Session
from analyzer.verdict import Diagnosis

__all__ = ["view"]

_DEEPEST = 12  # levels that are indented; below them the line would hold nothing else
_ONE_LEVEL = "  "
_NAME_WIDTH = 28  # the longest name, two levels down
_OPENING = frozenset(("agent_start", "turn_start", "process_start", "session_start"))
_CLOSING = frozenset(("agent_end", "turn_end", "process_end", "session_end"))
_Line: TypeAlias = list[tuple[str, str]]
"""Pieces of text, each with its style."""
_STYLES: Mapping[str, str] = {
    "tool_call": "cyan",
    "tool_output": "cyan",
    "token_usage": "magenta",
    "memory_event": "blue",
    "error_event": "red",
    "retry_event": "yellow",
}


def view(session: Session, diagnosis: Diagnosis, look: Look) -> Iterator[bytes]:
    """Yield the lines of the timeline, the verdict first."""
    for line in (*_head(session, diagnosis), *_timeline(session, diagnosis)):
        yield _rendered(line, look)


def _rendered(line: _Line, look: Look) -> bytes:
    if look.width is None and not look.colour:
        return f"{''.join(text for text, _ in line).rstrip()}\n".encode()
    return _drawn(line, look)


def _drawn(line: _Line, look: Look) -> bytes:
    from rich.console import Console  # noqa: PLC0415  # slow to load, and needed on a terminal alone
    from rich.text import Text  # noqa: PLC0415  # as above

    drawn = Text().append_tokens(line)
    if look.width is not None:
        drawn.truncate(look.width, overflow="ellipsis")
    if not look.colour:
        return f"{drawn.plain.rstrip()}\n".encode()
    out = io.StringIO()
    width = max(look.width or 0, drawn.cell_len, 1)
    Console(file=out, force_terminal=True, width=width, color_system="standard", highlight=False).print(drawn)
    return out.getvalue().encode()


def _head(session: Session, diagnosis: Diagnosis) -> Iterator[_Line]:
    verdict = words.READINESS[diagnosis.readiness_level]
    yield [(f"{one_line(session.run_id)}  {one_line(words.agent(diagnosis))}", "bold")]
    yield [(f"{diagnosis.status}, trust {words.trust(diagnosis)}, {verdict}, {len(session.events)} events", "")]
    for cause in diagnosis.failure_causes:
        yield [(f"{one_line(words.failure(cause))}: {one_line(cause.description)}", "red")]
    for note in diagnosis.notes:
        yield [(f"note: {one_line(note.message)}", "dim")]
    yield []


def _timeline(session: Session, diagnosis: Diagnosis) -> Iterator[_Line]:
    pointed_at = _marks(diagnosis)
    for event, depth in _indented(session.events):
        shown = exhibit(event)
        indent = _ONE_LEVEL * min(depth, _DEEPEST)
        name = f"{one_line(event.event_type):<{_NAME_WIDTH - len(indent)}}"
        line = [(f"{clock(event.time_ns):<12}  {indent}", ""), (name, _STYLES.get(event.event, ""))]
        failures = ", ".join(pointed_at.get(event.event_id, ()))
        for part, style in (
            (shown.subject, "bold"),
            (_took(event), "dim"),
            ("failed" if shown.failed else "", "red"),
            (f"← {failures}" if failures else "", "red"),
            (shown.detail, ""),
        ):
            if part:
                line += (("  ", ""), (part, style))
        yield line


def _marks(diagnosis: Diagnosis) -> dict[str, list[str]]:
    marks: dict[str, list[str]] = {}
    for cause in diagnosis.failure_causes:
        for event_id in dict.fromkeys(cause.evidence):
            names = marks.setdefault(event_id, [])
            if cause.type not in names:
                names.append(cause.type)
    return marks


def _took(event: Event) -> str:
    return "" if event.duration_ms is None else f"{event.duration_ms:,.1f} ms"


def _indented(events: tuple[Event, ...]) -> Iterator[tuple[Event, int]]:
    """Yield events with their depth: that of their span below its parents, else that of what is open around them."""
    depths: dict[str, int] = {}
    opened = 0
    for event in events:
        if event.event_type in _CLOSING:
            opened = max(opened - 1, 0)
        yield event, opened if event.span is None else _depth(event, event.span.span_id, depths)
        if event.event_type in _OPENING:
            opened += 1


def _depth(event: Event, span_id: str, depths: dict[str, int]) -> int:
    known = depths.get(span_id)
    if known is None:
        parent = _parent(event.payload)
        known = depths[span_id] = depths[parent] + 1 if parent in depths else 0
    return known


def _parent(payload: Any) -> str:
    try:
        return msgspec.convert(payload, _Payload).otel.parent_span_id
    except msgspec.ValidationError:
        return ""


class _Otel(msgspec.Struct):
    parent_span_id: str = ""


class _Payload(msgspec.Struct):
    otel: _Otel = msgspec.field(default_factory=_Otel)
