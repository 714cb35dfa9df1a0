"""What is different between two runs, or two sets of runs? Failures, steps, tokens and time, before and after."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import call_text
from analyzer.profile import Profile
from analyzer.report.alignment import aligned_stretches
from analyzer.session.model import Session
from analyzer.timeline.conversation import Role
from analyzer.timeline.index import build_timeline
from analyzer.verdict import Diagnosis

__all__ = [
    "Amount",
    "ComparedRun",
    "Differences",
    "Divergence",
    "FailureChange",
    "Stretch",
    "compared_run",
    "differences",
]

_STEPS = 2_000  # of each run that are compared
_DIVERGENCES = 50  # pairs of runs that are told


class ComparedRun(Struct, frozen=True, kw_only=True):
    """What is compared of a run."""

    run_id: str
    causes: tuple[FailureCause, ...] = ()
    steps: tuple[str, ...] | None = None
    """The tool calls in words, in order; None where only the verdict is known."""
    asked: str = ""
    """What the user said first."""
    tokens: int | None = None
    seconds: float | None = None
    tool_calls: int | None = None


class FailureChange(Struct, frozen=True, kw_only=True):
    """A failure and in how many runs of either side it is, the same one by its fingerprint."""

    type: str
    fingerprint: str
    severity: Severity
    description: str
    runs_before: int
    runs_after: int


class Amount(Struct, frozen=True, kw_only=True):
    """A mean over the runs that tell it, before and after; None where none does."""

    before: float | None
    after: float | None


class Stretch(Struct, frozen=True, kw_only=True):
    """A stretch of steps that are in one run only, or in the other only, or in both."""

    is_same: bool
    before: tuple[str, ...]
    after: tuple[str, ...]


class Divergence(Struct, frozen=True, kw_only=True):
    """Where two runs of one task go different ways."""

    run_before: str
    run_after: str
    same_steps: int
    """How many steps are equal before the first that is not."""
    stretches: tuple[Stretch, ...]


class Differences(Struct, frozen=True, kw_only=True):
    """All that is different."""

    runs_before: int
    runs_after: int
    appeared: tuple[FailureChange, ...]
    """Failures that no run had before, those of most runs first."""
    gone: tuple[FailureChange, ...]
    stayed: tuple[FailureChange, ...]
    tokens: Amount
    seconds: Amount
    tool_calls: Amount
    diverging: tuple[Divergence, ...]
    """Pairs of runs whose steps differ, in order of the first one's id."""
    same_way: int
    """Pairs of runs whose steps are the same."""


def compared_run(diagnosis: Diagnosis, session: Session) -> ComparedRun:
    """Return what is compared of a run whose session is at hand."""
    timeline = build_timeline(session, Profile.STANDARD)
    spoken = timeline.conversation.by(Role.USER)
    evidence = diagnosis.evidence_summary
    return ComparedRun(
        run_id=diagnosis.run_id,
        causes=diagnosis.failure_causes,
        steps=tuple(map(call_text, timeline.work)),
        asked=spoken[0].text if spoken else "",
        tokens=evidence.tokens.total,
        seconds=diagnosis.runtime_metrics.latency,
        tool_calls=evidence.tool_calls,
    )


def differences(before: Sequence[ComparedRun], after: Sequence[ComparedRun]) -> Differences:
    """Return what is different; runs are paired by their id, else by what the user asked, else if there is one each."""
    changes = _failures(before, after)
    pairs = _pairs(before, after)
    parting = [(old, new) for old, new in pairs if _steps(old) != _steps(new)]
    return Differences(
        runs_before=len(before),
        runs_after=len(after),
        appeared=tuple(change for change in changes if not change.runs_before),
        gone=tuple(change for change in changes if not change.runs_after),
        stayed=tuple(change for change in changes if change.runs_before and change.runs_after),
        tokens=Amount(before=_mean(run.tokens for run in before), after=_mean(run.tokens for run in after)),
        seconds=Amount(before=_mean(run.seconds for run in before), after=_mean(run.seconds for run in after)),
        tool_calls=Amount(before=_mean(run.tool_calls for run in before), after=_mean(run.tool_calls for run in after)),
        diverging=tuple(_divergence(old, new) for old, new in parting[:_DIVERGENCES]),
        same_way=len(pairs) - len(parting),
    )


def _failures(before: Sequence[ComparedRun], after: Sequence[ComparedRun]) -> list[FailureChange]:
    counted = [
        Counter(key for run in runs for key in {_key(cause) for cause in run.causes}) for runs in (before, after)
    ]
    first = {_key(cause): cause for run in (*after, *before)[::-1] for cause in reversed(run.causes)}
    changes = [
        FailureChange(
            type=cause.type,
            fingerprint=cause.fingerprint,
            severity=cause.severity,
            description=cause.description,
            runs_before=counted[0][key],
            runs_after=counted[1][key],
        )
        for key, cause in first.items()
    ]
    return sorted(
        changes, key=lambda one: (-one.severity.rank, -one.runs_after, -one.runs_before, one.type, one.fingerprint)
    )


def _key(cause: FailureCause) -> tuple[str, str]:
    """Return what makes failures the same one; a kept verdict may lack the fingerprint."""
    return cause.type, cause.fingerprint


def _pairs(before: Sequence[ComparedRun], after: Sequence[ComparedRun]) -> list[tuple[ComparedRun, ComparedRun]]:
    if len(before) == len(after) == 1:
        return [pair for pair in zip(before, after, strict=True) if None not in (pair[0].steps, pair[1].steps)]
    by_id = {run.run_id: run for run in after if run.steps is not None}
    taken = {run.run_id for run in before if run.run_id in by_id}
    by_task: dict[str, list[ComparedRun]] = {}
    for run in reversed(after):
        if run.asked and run.steps is not None and run.run_id not in taken:
            by_task.setdefault(run.asked, []).append(run)
    pairs: list[tuple[ComparedRun, ComparedRun]] = []
    for run in before:
        if run.steps is None:
            continue
        same = by_id.get(run.run_id)
        if same is None and by_task.get(run.asked):
            same = by_task[run.asked].pop()
        if same is not None:
            pairs.append((run, same))
    return pairs


def _steps(run: ComparedRun) -> tuple[str, ...]:
    return (run.steps or ())[:_STEPS]


def _divergence(before: ComparedRun, after: ComparedRun) -> Divergence:
    old, new = _steps(before), _steps(after)
    same = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    stretches = [
        Stretch(is_same=is_same, before=old[start:end], after=new[begin:stop])
        for is_same, (start, end), (begin, stop) in aligned_stretches(old, new)
    ]
    return Divergence(
        run_before=before.run_id,
        run_after=after.run_id,
        same_steps=min(len(old), len(new)) if same is None else same,
        stretches=tuple(stretches),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
