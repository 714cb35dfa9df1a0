"""How much can be trusted in an agent that behaves like this run: dimensions, trust, readiness."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Dimension
from analyzer.detectors.registry import ALL
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT, RESULT, Places, first_given
from analyzer.session.model import Event
from analyzer.timeline.call import Call
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.index import Timeline

__all__ = ["SEVERITY_RANK", "STATUS_CAPS", "WEIGHTS", "Readiness", "Score", "score"]

WEIGHTS: Mapping[Dimension, float] = {
    Dimension.LOOP_CONTROL: 0.20,
    Dimension.MEMORY_INTEGRITY: 0.15,
    Dimension.TOOL_OUTPUT_UTILIZATION: 0.20,
    Dimension.CONTEXT_HEALTH: 0.15,
    Dimension.COST_EFFICIENCY: 0.15,
    Dimension.SKILL_ADHERENCE: 0.15,
}
"""What each dimension counts in the trust score (critiqor.session.v1); together 1."""

SEVERITY_RANK: Mapping[Severity, int] = {severity: rank for rank, severity in enumerate(Severity)}

_DIMENSIONS: Mapping[str, Dimension] = {detector.failure_type: detector.dimension for detector in ALL}

# Design §7: the worst failure bounds the trust, however well the rest went.
_CAPS: Mapping[Severity, int] = {Severity.MEDIUM: 89, Severity.HIGH: 74, Severity.CRITICAL: 49}
STATUS_CAPS: Mapping[RunStatus, int] = {RunStatus.FAILED: 74, RunStatus.UNFINISHED: 79}
"""The most that a run is trusted that failed or never ended, whatever the reason; both are below _REVIEW_BELOW."""

_GRAVE = (Severity.HIGH, Severity.CRITICAL)
_PRINT = Places((), ("result_fingerprint",))
_UNSAFE_BELOW = 60
_REVIEW_BELOW = 80


class Readiness(StrEnum):
    """Whether an agent that behaves like this run may go to production."""

    SAFE_TO_DEPLOY = "safe_to_deploy"
    REVIEW_RECOMMENDED = "review_recommended"
    UNSAFE_FOR_PRODUCTION = "unsafe_for_production"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"


class Score(Struct, frozen=True):
    """The figures of a run: 0 to 100 a dimension and for trust, and what follows from them."""

    dimensions: dict[str, int]
    trust: int | None
    """None where there is too little evidence to trust or to distrust."""
    readiness: Readiness


_Scoring: TypeAlias = Callable[[Timeline, Sequence[FailureCause]], Score]


def score(timeline: Timeline, causes: Sequence[FailureCause], profile: Profile) -> Score:
    """Return the score of a run with these failures by the numbers of a profile."""
    return _SCORINGS[profile](timeline, causes)


def _standard(timeline: Timeline, causes: Sequence[FailureCause]) -> Score:
    """The worst failure of a dimension counts; trust is capped by the worst failure and by how the run ended."""
    dimensions = dict.fromkeys(WEIGHTS, 100)
    for dimension, left in _left(causes):
        dimensions[dimension] = min(dimensions[dimension], left)
    caps = (
        100,
        *(_CAPS[cause.severity] for cause in causes if cause.severity in _CAPS),
        *(cap for status, cap in STATUS_CAPS.items() if status is timeline.status),
    )
    trust = min(_weighted(dimensions), *caps)
    if not _shows_anything(timeline, causes):
        return Score(_named(dimensions), None, Readiness.INSUFFICIENT_EVIDENCE)
    return Score(_named(dimensions), trust, _readiness(trust, causes))


def _recorded(_: Timeline, causes: Sequence[FailureCause]) -> Score:
    """The last failure of a dimension counts, and nothing caps (critiqor 0.1.4)."""
    dimensions = {**dict.fromkeys(WEIGHTS, 100), **dict(_left(causes))}
    trust = _weighted(dimensions)
    return Score(_named(dimensions), trust, _readiness(trust, causes))


_SCORINGS: Mapping[Profile, _Scoring] = {Profile.STANDARD: _standard, Profile.CRITIQOR_V1: _recorded}


def _left(causes: Iterable[FailureCause]) -> Iterable[tuple[Dimension, int]]:
    return ((_DIMENSIONS[cause.type], max(0, 100 - abs(cause.impact))) for cause in causes)


def _weighted(dimensions: Mapping[Dimension, int]) -> int:
    return min(100, max(0, round(sum(weight * dimensions[dimension] for dimension, weight in WEIGHTS.items()))))


def _named(dimensions: Mapping[Dimension, int]) -> dict[str, int]:
    return {dimension.value: value for dimension, value in dimensions.items()}


def _readiness(trust: int, causes: Sequence[FailureCause]) -> Readiness:
    severities = {cause.severity for cause in causes}
    if Severity.CRITICAL in severities or trust < _UNSAFE_BELOW:
        return Readiness.UNSAFE_FOR_PRODUCTION
    if Severity.HIGH in severities or trust < _REVIEW_BELOW:
        return Readiness.REVIEW_RECOMMENDED
    return Readiness.SAFE_TO_DEPLOY


def _shows_anything(timeline: Timeline, causes: Sequence[FailureCause]) -> bool:
    """Return whether the run shows an agent's work, or else that it failed.

    A process that ran shows neither, nor do names of tools alone: of calls without model calls, arguments, results and
    errors nothing can be said but that they were made.
    """
    if timeline.model_calls or any(map(_says_what, timeline.calls)) or any(map(_says_result, timeline.output_events)):
        return True
    return timeline.status is RunStatus.FAILED or any(cause.severity in _GRAVE for cause in causes)


def _says_what(call: Call) -> bool:
    return call.arguments is not ABSENT or call.fingerprint is not None


def _says_result(output: Event) -> bool:
    failed = output.error is not None or output.status == "error"
    return failed or any(first_given(output, place) is not ABSENT for place in (RESULT, _PRINT))
