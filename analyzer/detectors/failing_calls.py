"""How is a call that failed told? One finding a tool or model, by what came of its failures.

What the failure types of failed calls have in common. Severity follows from what came of a failure (`aftermath`), not
from its class; what nobody need worry about is of severity low.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from analyzer.cause import Basis, Confidence, FailureCause, Severity
from analyzer.detectors.detector import Find, Options, Why, call_text, fingerprint, shown_by
from analyzer.timeline.aftermath import Aftermath, Outlook
from analyzer.timeline.call import Call
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.failures import FailedCall, FailedModelCall
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import quoted

__all__ = ["Finding", "Kind", "causes_of", "find_class", "finding_of", "trail_of"]

_SHOWN = 10
"""Failures of one tool that are shown as evidence."""


class _Weight(NamedTuple):
    severity: Severity
    confidence: Confidence
    once: int
    """Points off for one failure."""
    again: int
    """Points off for each further one."""
    words: str


_LIMIT = 20
_WEIGHTS: Mapping[Aftermath, _Weight] = {
    Aftermath.FATAL: _Weight(Severity.HIGH, Confidence.HIGH, 18, 2, "The run failed with it."),
    Aftermath.UNHANDLED: _Weight(
        Severity.MEDIUM, Confidence.MEDIUM, 10, 2, "No later call made up for it, and the agent does not tell of it."
    ),
    Aftermath.UNSEEN: _Weight(
        Severity.LOW,
        Confidence.LOW,
        3,
        0,
        "No later call made up for it; whether the agent tells of it is not in the evidence.",
    ),
    Aftermath.REPORTED: _Weight(
        Severity.LOW, Confidence.MEDIUM, 2, 0, "No later call made up for it; the agent tells of it."
    ),
    Aftermath.RECOVERED: _Weight(Severity.LOW, Confidence.LOW, 0, 0, "A later call made up for it."),
}
"""By what came of the failure, the worst first."""
_ORDER = {aftermath: place for place, aftermath in enumerate(_WEIGHTS)}


class Kind(Struct, frozen=True, kw_only=True):
    """One failure type of failed calls."""

    failure_type: str
    verb: str
    """What the call did, in words: `timed out`."""
    why: Why
    basis: Basis = "observed"
    rule: str | None = None


class Finding(NamedTuple):
    """One failure, as it is told."""

    subject: str
    """The tool or the model, by name."""
    text: str
    """The call in words."""
    said: str
    outlook: Outlook
    told: bool
    """Only the result says that it failed."""
    trail: tuple[int, ...]
    """Positions of the events that show it, the one where the mistake was made first."""


def find_class(kind: Kind, error_class: ErrorClass, *, made_by_model: bool = False) -> Find:
    """Return the function that finds a class of errors; `made_by_model`: the model's request was the mistake."""

    def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
        failures = timeline.failures
        findings = [
            finding_of(timeline, failed, made_by_model=made_by_model)
            for failed in failures.of_tools
            if failed.owner is error_class
        ]
        failed_models = [failed for failed in failures.of_models if failed.owner is error_class]
        requests = {one.response_id: one.request_id for one in timeline.model_calls} if failed_models else {}
        findings += [_of_model(timeline, failed, requests) for failed in failed_models]
        yield from causes_of(timeline, kind, findings)

    return find


def finding_of(timeline: Timeline, failed: FailedCall, *, made_by_model: bool = False) -> Finding:
    """Return how the failure of a tool's call is told."""
    call, outlook = failed.call, failed.outlook
    trail = trail_of(timeline, call, outlook, made_by_model=made_by_model)
    return Finding(call.tool or "", call_text(call), failed.failure.text, outlook, failed.failure.told, trail)


def trail_of(timeline: Timeline, call: Call, outlook: Outlook, *, made_by_model: bool) -> tuple[int, ...]:
    """Return the positions of what shows a failure: the request for the call, the call, its output, what followed."""
    issuer = timeline.failures.issuers.get(call.call_id or "") if made_by_model else None
    output = call.output_position if call.output_id is not None else None
    places = (issuer, call.position, output, outlook.position)
    return tuple(dict.fromkeys(place for place in places if place is not None))


def _of_model(timeline: Timeline, failed: FailedModelCall, requests: Mapping[str | None, str | None]) -> Finding:
    name = f"the model {failed.model}" if failed.model else "the model"
    request = requests.get(timeline.events[failed.answer.position].event_id)
    asked = None if request is None else timeline.position_of[request]
    places = (asked, failed.answer.position, failed.outlook.position)
    trail = tuple(place for place in places if place is not None)
    return Finding(name, name, failed.answer.error or "", failed.outlook, told=False, trail=trail)


def causes_of(
    timeline: Timeline, kind: Kind, findings: Sequence[Finding], *, words: Callable[[Finding], str] | None = None
) -> Iterator[FailureCause]:
    """Yield one cause a tool or model, in order of its first failure.

    Failures that were made up for are left out beside others. `words` tell what happened, in place of verb and error.
    """
    by_subject: dict[str, list[Finding]] = {}
    for finding in findings:
        by_subject.setdefault(finding.subject, []).append(finding)
    for subject, group in by_subject.items():
        grave = [one for one in group if one.outlook.aftermath is not Aftermath.RECOVERED] or group
        ranked = sorted(grave, key=lambda one: (_ORDER[one.outlook.aftermath], one.trail))
        yield _cause(timeline, kind, subject, ranked, words or _words_of(kind))


def _words_of(kind: Kind) -> Callable[[Finding], str]:
    def words(finding: Finding) -> str:
        said = f": {quoted(finding.said)}" if finding.said else ""
        return f"{finding.text} {kind.verb}{said}"

    return words


def _cause(
    timeline: Timeline, kind: Kind, subject: str, ranked: Sequence[Finding], words: Callable[[Finding], str]
) -> FailureCause:
    worst = ranked[0]
    weight = _WEIGHTS[worst.outlook.aftermath]
    impact = -min(_LIMIT, weight.once + weight.again * (len(ranked) - 1))
    is_recovered = worst.outlook.aftermath is Aftermath.RECOVERED
    confidence = Confidence.MEDIUM if worst.told and weight.confidence is Confidence.HIGH else weight.confidence
    return FailureCause(
        type=kind.failure_type,
        severity=weight.severity,
        impact=impact,
        description=f"{words(worst)}. {weight.words}{_others(len(ranked) - 1)}",
        root_cause=kind.why.root_cause(impact),
        recommendation=kind.why.fix,
        confidence=confidence,
        basis="derived" if worst.told else kind.basis,
        rule="failure-in-result" if worst.told else kind.rule,
        marks=("recovered",) if is_recovered else (),
        fingerprint=fingerprint(kind.failure_type, subject),
        **shown_by(timeline.events[place] for place in _places(ranked)),
    )


def _places(ranked: Iterable[Finding]) -> Iterable[int]:
    shown = list(ranked)[:_SHOWN]
    return dict.fromkeys(place for finding in shown for place in finding.trail)


def _others(count: int) -> str:
    return "" if count == 0 else f" {count} more call{'' if count == 1 else 's'} failed so."
