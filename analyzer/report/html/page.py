"""One run as a page: one file that needs no network, no server and no other file."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.registry import ALL
from analyzer.profile import Profile
from analyzer.report import words
from analyzer.report.html.address import is_link, trace_link
from analyzer.report.html.assets import assets_of, licences, template
from analyzer.report.html.block import block_of
from analyzer.report.html.contents import answer_of
from analyzer.report.html.money import amount, costs_of
from analyzer.report.html.tallies import duration_text, models_of, tools_of
from analyzer.report.html.titles import FACTS, title_of
from analyzer.report.html.vendored import VENDORED
from analyzer.report.plain import cut
from analyzer.report.remarks import not_judged, remarks
from analyzer.report.report import RunReport
from analyzer.session.accessors import subject_of
from analyzer.session.instants import format_instant
from analyzer.session.model import Session
from analyzer.timeline.index import Timeline, build_timeline

__all__ = ["Around", "run_page"]

_SCRIPTS = ("core.js", "model.js", "words.js", "timeline.js", "graph.js", "evidence.js", "charts.js", "run.js")
_PACKAGES = tuple(row.file for row in VENDORED)
_EVENTS_LISTED = 12  # of a failure's evidence; the timeline shows all
_TOLD_BELOW = frozenset(("cost", "from"))  # remarks that have a place of their own
_TRACES = 20
_ANSWER = 120  # characters of what a model said
_LOW_SHOWN, _MOST_SHOWN = 5, 60  # failures; those of severity low and those beyond are folded


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """What a page is told of the world around it."""

    jaeger: str | None = None
    """The address of a Jaeger that holds the traces: `http://localhost:16686`."""
    index: str | None = None
    """The address of the page that lists all runs."""


class _Figure(NamedTuple):
    label: str
    value: str
    note: str = ""
    bad: bool = False


class _Cause(NamedTuple):
    number: int
    cause: FailureCause
    title: str
    summary: str
    dimension: str
    provenance: str
    listed: Sequence[str]
    more: int
    primary: bool
    known: str | None
    """The reason for which a baseline suppresses it; None where none does."""


class _Root(NamedTuple):
    """Where the run may have been lost."""

    event_id: str
    what: str
    confidence: str
    why: str


def run_page(
    run: RunReport, session: Session, *, profile: Profile = Profile.STANDARD, around: Around | None = None
) -> bytes:
    """Return the page of a run; its session is that from which the verdict was made, by the same profile."""
    around = around if around is not None else Around()
    timeline = build_timeline(session, profile)
    verdict = run.diagnosis
    block = block_of(timeline, verdict)
    causes = _causes(run)
    grave = sum(one.cause.severity is not Severity.LOW for one in causes)
    text = template("run.html.j2").render(
        assets=assets_of(_SCRIPTS, vendored=_PACKAGES),
        licences=licences(),
        block=block,
        jaeger=around.jaeger if around.jaeger is not None and is_link(around.jaeger) else None,
        index=around.index,
        traces=[(trace_id, trace_link(around.jaeger, trace_id)) for trace_id in verdict.trace_ids[:_TRACES]],
        title=f"{words.agent(verdict)}, run {verdict.run_id}",
        verdict=verdict,
        agent=words.agent(verdict),
        readiness=words.READINESS[verdict.readiness_level],
        figures=list(_figures(verdict)),
        causes=causes,
        shown=min(max(grave, _LOW_SHOWN), _MOST_SHOWN),
        grave=run.grave is not None,
        remarks=[remark for remark in remarks(run) if remark.label not in _TOLD_BELOW],
        missing=[FACTS.get(fact, fact) for fact in verdict.evidence_summary.missing],
        blind=not_judged(verdict),
        metadata=list(_metadata(run, timeline, profile)),
        tools=tools_of(timeline),
        models=models_of(timeline),
        costs=list(costs_of(verdict.cost_analysis)),
        root=_root(run, timeline),
    )
    return text.encode("utf-8", "replace")


def _figures(verdict: Any) -> Iterator[_Figure]:
    evidence, metrics = verdict.evidence_summary, verdict.runtime_metrics
    yield _Figure("Status", verdict.status.value, bad=verdict.status.value == "failed")
    yield _Figure("Duration", duration_text(metrics.latency))
    yield _Figure("Model calls", _count(evidence.model_calls))
    failed = evidence.tool_errors
    yield _Figure("Tool calls", _count(evidence.tool_calls), f"{failed:,} failed" if failed else "", bool(failed))
    tokens = evidence.tokens
    spent = f"{_count(tokens.input)} in · {_count(tokens.output)} out" if tokens.total is not None else ""
    yield _Figure("Tokens", words.tokens(evidence), spent)
    costs = verdict.cost_analysis
    if costs.cost is not None:
        wasted = f"{amount(costs.wasted_cost, costs)} for nothing" if costs.wasted_cost else ""
        yield _Figure("Cost", amount(costs.cost, costs), wasted)
    yield _Figure("Retries", _count(metrics.retries))
    yield _Figure("Errors", _count(evidence.errors), bad=bool(evidence.errors))


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _causes(run: RunReport) -> list[_Cause]:
    """Return the failures, the primary one first, then the worst ones; each with its place in the verdict."""
    detectors = {detector.failure_type: detector for detector in ALL}
    numbered = list(enumerate(run.diagnosis.failure_causes))
    numbered.sort(key=lambda one: (one[1] is not run.primary, -words.SEVERITY_ORDER.index(one[1].severity)))
    found: list[_Cause] = []
    for number, cause in numbered:
        detector = detectors.get(cause.type)
        found.append(
            _Cause(
                number=number,
                cause=cause,
                title=title_of(cause.type),
                summary="" if detector is None else detector.summary,
                dimension="" if detector is None else title_of(detector.dimension.value),
                provenance=words.provenance(cause),
                listed=cause.evidence[:_EVENTS_LISTED],
                more=max(0, len(cause.evidence) - _EVENTS_LISTED),
                primary=cause is run.primary,
                known=run.known.get(cause.fingerprint) if run.is_known(cause) else None,
            )
        )
    return found


def _root(run: RunReport, timeline: Timeline) -> _Root | None:
    found = run.diagnosis.roots.primary
    if found is None or found.event_id not in timeline.position_of:
        return None
    event = timeline.events[timeline.position_of[found.event_id]]
    answer = answer_of(event)
    what = f"the model: {cut(answer, _ANSWER)}" if answer else f"{subject_of(event)}, {event.event.replace('_', ' ')}"
    return _Root(found.event_id, what, found.confidence.value, found.explanation)


def _metadata(run: RunReport, timeline: Timeline, profile: Profile) -> Iterator[tuple[str, Sequence[str]]]:
    verdict = run.diagnosis
    times = [event.time_ns for event in timeline.events if event.time_ns is not None]
    yield "Run", (verdict.run_id,)
    yield "Agent", (verdict.agent.name or "not named",)
    yield "Framework", (" ".join(filter(None, (verdict.agent.framework, verdict.agent.version))) or "not named",)
    if times:
        yield "From", (str(format_instant(min(times))),)
        yield "To", (str(format_instant(max(times))),)
    yield "Evidence", (title_of(verdict.evidence_level), f"{verdict.evidence_summary.event_count:,} events")
    yield "Judged by", (f"profile {profile.value}",)
    if verdict.runtime_metrics.exit_code is not None:
        yield "Exit code", (str(verdict.runtime_metrics.exit_code),)
    if run.files:
        yield "Files", run.files
