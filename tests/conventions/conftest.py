"""Captured traces as facts, and single spans made short."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import CAPTURES, FURTHER_CAPTURES

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.messages import Message
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.decode.otlp_json import decode_logs, decode_traces
from critiqor_otel.reconstruct.logs import join_logs
from critiqor_otel.span import LogRecord, Resource, Scope, Span, SpanEvent, StatusCode


@dataclass(frozen=True)
class Capture:
    """The facts of one captured run's spans and records, in order of time."""

    facts: tuple[Facts, ...]
    from_records: tuple[Facts, ...]
    told: dict[str, Any]

    def of(self, *roles: SpanRole, records: bool = False) -> list[Facts]:
        """Return the outermost spans of a role: those with no span of the same role above them."""
        every = self.from_records if records else self.facts
        homes = {facts.span.span_id: facts for facts in every}
        return [facts for facts in every if facts.role in roles and not _inside(facts, homes)]

    def messages(self, field: Field, *roles: SpanRole) -> list[Message]:
        """Return all messages of a field on spans of some roles."""
        return [m for facts in self.facts if facts.role in roles for m in facts.get(field) or ()]


def _inside(facts: Facts, homes: dict[str, Facts]) -> bool:
    above = homes.get(facts.span.parent_span_id or "")
    while above is not None:
        if above.role is facts.role:
            return True
        above = homes.get(above.span.parent_span_id or "")
    return False


def _lines(path: Path) -> Iterable[bytes]:
    return path.read_bytes().splitlines() if path.exists() else ()


def _ordered(spans: Iterable[Span]) -> tuple[Facts, ...]:
    return tuple(facts_of(span) for span in sorted(spans, key=lambda span: (span.start_ns, span.span_id)))


@cache
def read_capture(name: str) -> Capture:
    """Read `family/scenario`, its log records joined to their spans."""
    stem = next(folder / name for folder in (CAPTURES, FURTHER_CAPTURES) if (folder / f"{name}.facts.json").exists())
    spans: list[Span] = []
    records: list[LogRecord] = []
    for line in _lines(stem.with_name(f"{stem.name}.otlp.jsonl")):
        spans.extend(decode_traces(line).spans)
    for line in _lines(stem.with_name(f"{stem.name}.logs.otlp.jsonl")):
        records.extend(decode_logs(line).logs)
    joined = join_logs({(span.trace_id, span.span_id): span for span in spans}, records)
    told = json.loads(stem.with_name(f"{stem.name}.facts.json").read_bytes())
    return Capture(_ordered(joined.spans.values()), _ordered(joined.from_records.values()), told)


@pytest.fixture
def capture() -> Callable[[str], Capture]:
    """Return the reader of captured runs."""
    return read_capture


MakeFacts = Callable[..., Facts]


@pytest.fixture
def facts() -> MakeFacts:
    """Return a maker of one span's facts from its attributes."""

    def make(
        attributes: dict[str, Any],
        *,
        name: str = "span",
        scope: str = "",
        parent: str | None = None,
        events: tuple[SpanEvent, ...] = (),
        resource: dict[str, Any] | None = None,
    ) -> Facts:
        return facts_of(
            Span(
                trace_id="1" * 32,
                span_id="2" * 16,
                parent_span_id=parent,
                name=name,
                start_ns=1,
                end_ns=2,
                attributes=attributes,
                status=StatusCode.UNSET,
                events=events,
                resource=Resource(resource or {}),
                scope=Scope(scope),
            )
        )

    return make
