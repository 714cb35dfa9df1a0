"""Which failure weighs most, and which names do failures have in the graph."""

from collections.abc import Callable, Container, Mapping, Sequence

from analyzer.causality.scene import Failure
from analyzer.cause import FailureCause, Severity
from analyzer.profile import Profile

__all__ = ["failures_of", "ranked"]

_RANK: Mapping[Severity, int] = {severity: rank for rank, severity in enumerate(Severity)}


def failures_of(
    causes: Sequence[FailureCause], profile: Profile, taken: Container[str] = frozenset()
) -> tuple[Failure, ...]:
    """Return the causes with the ids of their nodes: `failure_<type>`, a second one of a type numbered.

    `taken` holds the ids of events, which are passed over. critiqor 0.1.4 gives two causes of one type one id.
    """
    if profile is Profile.CRITIQOR_V1:
        return tuple(Failure(f"failure_{cause.type}", cause) for cause in causes)
    seen: dict[str, int] = {}
    failures: list[Failure] = []
    for cause in causes:
        count = seen.get(cause.type, 0) + 1
        while (node := _name(cause.type, count)) in taken:
            count += 1
        seen[cause.type] = count
        failures.append(Failure(node, cause))
    return tuple(failures)


def ranked(failures: Sequence[Failure], profile: Profile) -> tuple[Failure, ...]:
    """Return the failures that are any worry, the one that weighs most first, equal ones as they stand."""
    grave = [failure for failure in failures if not failure.cause.marks]
    return tuple(sorted(grave, key=_WEIGHTS[profile], reverse=True))


def _name(failure_type: str, count: int) -> str:
    return f"failure_{failure_type}_{count}" if count > 1 else f"failure_{failure_type}"


def _by_severity(failure: Failure) -> tuple[int, int]:
    return _RANK[failure.cause.severity], abs(failure.cause.impact)


def _by_impact(failure: Failure) -> tuple[int, int]:
    return abs(failure.cause.impact), 0


_WEIGHTS: Mapping[Profile, Callable[[Failure], tuple[int, int]]] = {
    Profile.STANDARD: _by_severity,
    Profile.CRITIQOR_V1: _by_impact,
}
