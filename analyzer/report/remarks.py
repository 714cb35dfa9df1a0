"""What is to be told of a run besides its failures: how it ended, what nobody could judge, where it came from?"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from analyzer.detectors.registry import ALL
from analyzer.report.plain import cut, one_line
from analyzer.report.report import RunReport
from analyzer.scoring import STATUS_CAPS
from analyzer.timeline.missing import Fact
from analyzer.verdict import Diagnosis, Readiness, RunStatus

__all__ = ["Remark", "not_judged", "remarks", "some"]

_ERRORS = 3
_FILES = 5
_LENGTH = 200  # characters of one error; the other forms hold more


class Remark(msgspec.Struct, frozen=True):
    """One thing to know before the verdict is believed."""

    label: str
    """Empty where the text says it all."""
    text: str
    telling: bool = True
    """Worth a paragraph on a run that has nothing else to tell."""


def remarks(run: RunReport) -> list[Remark]:
    """Return what is to be told of a run, the most important first; notes and failures stand elsewhere."""
    return [remark for tell in _TELLERS for remark in tell(run)]


def not_judged(diagnosis: Diagnosis) -> list[str]:
    """Return the failure types whose detectors lacked a fact and found nothing, each with the facts."""
    missing = set(diagnosis.evidence_summary.missing)
    found = {cause.type for cause in diagnosis.failure_causes}
    blind: list[str] = []
    for detector in ALL:
        lacking = [fact.value for fact in Fact if fact in detector.needs and fact.value in missing]
        if lacking and detector.failure_type not in found:
            blind.append(f"{detector.failure_type} ({', '.join(lacking)} missing)")
    return blind


def some(texts: Sequence[str], shown: int, *, between: str = ", ") -> str:
    """Return the first texts, and how many there are besides."""
    left = len(texts) - shown
    return between.join(texts[:shown]) + (f"{between}and {left} more" if left > 0 else "")


def _ending(run: RunReport) -> Iterator[Remark]:
    verdict = run.diagnosis
    cap = STATUS_CAPS.get(verdict.status)
    if cap is None:
        return
    capped = f"; for that, trust is {cap} at most" if verdict.trust_score == cap else ""
    yield Remark("", f"{_ENDINGS[verdict.status](verdict)}{capped}")


def _failed(verdict: Diagnosis) -> str:
    code, errors = verdict.runtime_metrics.exit_code, verdict.runtime_metrics.errors
    with_code = f" with exit code {code}" if code else ""
    reason = f": {_shortened(errors[-1])}" if errors else "" if code else ", and nothing says why"
    return f"the run failed{with_code}{reason}"


def _unfinished(_: Diagnosis) -> str:
    return "the run never ended, or its end is not in the evidence"


_ENDINGS: Mapping[RunStatus, Callable[[Diagnosis], str]] = {
    RunStatus.FAILED: _failed,
    RunStatus.UNFINISHED: _unfinished,
}


def _errors(run: RunReport) -> Iterator[Remark]:
    errors = list(map(_shortened, run.diagnosis.runtime_metrics.errors))
    if len(errors) > (run.diagnosis.status is RunStatus.FAILED):  # the ending told the last one
        yield Remark("errors", some(errors, _ERRORS, between=" · "), telling=False)


def _too_little(run: RunReport) -> Iterator[Remark]:
    if run.diagnosis.readiness_level is Readiness.INSUFFICIENT_EVIDENCE:
        yield Remark("", "nothing to judge by: no tool call and no model call is in the evidence")


def _blind(run: RunReport) -> Iterator[Remark]:
    blind = not_judged(run.diagnosis)
    if blind:
        yield Remark("not judged", ", ".join(blind))


def _files(run: RunReport) -> Iterator[Remark]:
    if run.files:
        yield Remark("from", some(run.files, _FILES), telling=False)


_TELLERS: Sequence[Callable[[RunReport], Iterator[Remark]]] = (_ending, _errors, _too_little, _blind, _files)


def _shortened(text: str) -> str:
    return cut(one_line(text), _LENGTH)
