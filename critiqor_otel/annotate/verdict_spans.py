"""A verdict becomes spans of the run's own trace: `critiqor.diagnosis` below the agent, and below it a span a failure.

Ids follow from the run, from how much of it was judged, and from the failure: the same verdict gives the same spans,
and one on more evidence stands beside the earlier one. `gen_ai.evaluation.*` is OpenTelemetry's name for what an
evaluator says: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/#event-gen_aievaluationresult.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from analyzer.cause import FailureCause, Severity
from analyzer.report.words import READINESS, SEVERITY_ORDER
from analyzer.session.model import Session, SpanRef
from analyzer.verdict import Diagnosis, Readiness
from critiqor_otel.annotate.places import places_of
from critiqor_otel.conventions.carriage import ANNOTATION, RUN_ID
from critiqor_otel.emit.derived_ids import span_id_of
from critiqor_otel.emit.plain_values import known_attributes, plain_text, text_of_json
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.span import Link, Scope, Span, SpanKind, StatusCode

__all__ = ["DIAGNOSIS", "verdict_spans"]

DIAGNOSIS = "critiqor.diagnosis"
_FAILURE = "critiqor.failure"
_SCOPE = Scope("critiqor_otel.annotate")
_MOST = 128  # links of a span and failures of a run that are shown: OTEL_SPAN_LINK_COUNT_LIMIT, the SDK's default
_GRAVE = (Severity.HIGH, Severity.CRITICAL)
_SCRUBBED = Redaction()


def verdict_spans(session: Session, verdict: Diagnosis) -> tuple[Span, ...]:
    """Return the spans that tell the verdict on a session, the diagnosis first; they lie within the run's time."""
    tree = _Tree(session)
    is_unsafe = verdict.readiness_level is Readiness.UNSAFE_FOR_PRODUCTION
    error = READINESS[verdict.readiness_level] if is_unsafe else None
    above = tree.places.root.span_id
    top = tree.span("diagnosis", DIAGNOSIS, _diagnosis(session, verdict), above=above, error=error)
    return (top, *_failures(tree, verdict, above=top.span_id))


def _failures(tree: "_Tree", verdict: Diagnosis, *, above: str) -> Iterator[Span]:
    """Yield a span a failure, the worst first; more than are shown are told by their number on the diagnosis."""
    worst = sorted(verdict.failure_causes, key=lambda cause: -SEVERITY_ORDER.index(cause.severity))
    met: Counter[tuple[str, str]] = Counter()
    for cause in worst[:_MOST]:
        met[cause.type, cause.fingerprint] += 1
        yield tree.failure(cause, met[cause.type, cause.fingerprint], above=above)


def _diagnosis(session: Session, verdict: Diagnosis) -> dict[str, Any]:
    primary = verdict.primary_diagnosis
    return {
        ANNOTATION: "diagnosis",
        RUN_ID: text_of_json(session.run_id),
        "critiqor.trust_score": verdict.trust_score,
        "critiqor.readiness": verdict.readiness_level.value,
        "critiqor.primary_failure": primary.root_cause_failure_type or None,
        "critiqor.causal_chain": primary.causal_chain_explanation or None,
        "critiqor.failures": len(verdict.failure_causes),
        "critiqor.status": verdict.status.value,
        "critiqor.evidence_level": verdict.evidence_level,
        "critiqor.events": len(session.events),
        **{f"critiqor.score.{dimension}": score for dimension, score in verdict.scores.items()},
        "gen_ai.agent.name": verdict.agent.name,
        "gen_ai.evaluation.name": "critiqor.trust",
        "gen_ai.evaluation.score.value": None if verdict.trust_score is None else float(verdict.trust_score),
        "gen_ai.evaluation.score.label": verdict.readiness_level.value,
        "gen_ai.evaluation.explanation": primary.description or primary.causal_chain_explanation or None,
    }


def _failure(run_id: str, cause: FailureCause) -> dict[str, Any]:
    root = cause.root_cause
    return {
        ANNOTATION: "failure",
        RUN_ID: text_of_json(run_id),
        "critiqor.failure.type": cause.type,
        "critiqor.failure.severity": cause.severity.value,
        "critiqor.failure.confidence": cause.confidence.value,
        "critiqor.failure.basis": cause.basis,
        "critiqor.failure.rule": cause.rule,
        "critiqor.failure.impact": cause.impact,
        "critiqor.failure.marks": list(cause.marks) or None,
        "critiqor.failure.evidence": [plain_text(name) for name in cause.evidence[:_MOST]],
        "critiqor.failure.root_cause": None if root is None else root.description,
        "critiqor.failure.recommendation": cause.recommendation or None,
        "critiqor.failure.fingerprint": cause.fingerprint,
        "error.type": cause.type if cause.severity in _GRAVE else None,
        "gen_ai.evaluation.name": f"critiqor.{cause.type}",
        "gen_ai.evaluation.score.value": float(cause.impact),
        "gen_ai.evaluation.score.label": cause.severity.value,
        "gen_ai.evaluation.explanation": cause.description,
    }


def _links(homes: Iterable[tuple[str, SpanRef]]) -> tuple[Link, ...]:
    """Return a link to each span of the evidence, the primary one first, with its first event there."""
    first: dict[SpanRef, str] = {}
    for event_id, home in homes:
        first.setdefault(home, event_id)
    return tuple(
        Link(home.trace_id, home.span_id, {"critiqor.evidence": plain_text(name)}) for home, name in first.items()
    )


class _Tree:
    """Makes the spans of one verdict."""

    def __init__(self, session: Session) -> None:
        self.places = places_of(session)
        self._run_id = session.run_id
        self._judged = f"{len(session.events)} events"

    def span(self, part: str, name: str, told: Mapping[str, Any], *, above: str, error: str | None) -> Span:
        """Return the span of a part of the verdict, as long as the run; with an error it says so."""
        whole = self.places.whole
        return Span(
            trace_id=self.places.root.trace_id,
            span_id=span_id_of(self._run_id, f"{part} of {self._judged}"),
            parent_span_id=above,
            name=name,
            kind=SpanKind.INTERNAL,
            start_ns=whole.start_ns,
            end_ns=whole.end_ns,
            attributes=_SCRUBBED.attributes(known_attributes(told)),
            status=StatusCode.UNSET if error is None else StatusCode.ERROR,
            status_message="" if error is None else _SCRUBBED.text(plain_text(error)),
            resource=self.places.resource,
            scope=_SCOPE,
        )

    def failure(self, cause: FailureCause, number: int, *, above: str) -> Span:
        """Return the span of a failure, as long as its evidence, which it links to."""
        homes = list(self.places.of(cause.evidence))
        part = f"failure {cause.type} {cause.fingerprint} {number}"
        error = cause.description if cause.severity in _GRAVE else None
        span = self.span(part, f"{_FAILURE} {cause.type}", _failure(self._run_id, cause), above=above, error=error)
        time = self.places.stretch(home for _, home in homes)
        links = _links(homes)
        return msgspec.structs.replace(
            span,
            start_ns=time.start_ns,
            end_ns=time.end_ns,
            links=links[:_MOST],
            dropped_links=max(len(links) - _MOST, 0),
        )
