"""What is to be told of a run besides its failures: how it ended, what nobody could judge, where it came from?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module

import msgspec

from analyzer.detectors.registry import ALL
from analyzer.report.plain import cut, one_line
from analyzer.report.report import RunReport
from analyzer.scoring import STATUS_CAPS
from analyzer.timeline.missing import Fact
from analyzer.verdict import Diagnosis, Readiness, RunStatus

__all__ = ["Remark", "missing_facts_of", "not_judged", "remarks", "some"]

_ERRORS = 3
_FILES = 5
_BLIND = 3  # failure types that are told one by one
_TIMED_OUT, _ENDED = "timeout", "process_exit"  # errors of a process that is run under observation
_LENGTH = 200  # characters of one error; the other forms hold more
_SMALL = 4  # decimal places of amounts below one


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
    found = {cause.type for cause in diagnosis.failure_causes}
    return [
        f"{failure_type} ({', '.join(lacking)} missing)"
        for failure_type, lacking in missing_facts_of(diagnosis).items()
        if failure_type not in found
    ]


def missing_facts_of(diagnosis: Diagnosis) -> Mapping[str, Sequence[str]]:
    """Return the failure types whose detectors lack a fact, with the facts."""
    return _lacking(frozenset(diagnosis.evidence_summary.missing))


@lru_cache(128)  # many runs of one input lack the same
def _lacking(missing: frozenset[str]) -> Mapping[str, Sequence[str]]:
    lacking = {
        detector.failure_type: [fact.value for fact in Fact if fact in detector.needs and fact.value in missing]
        for detector in ALL
    }
    return {failure_type: facts for failure_type, facts in lacking.items() if facts}


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
    if errors and errors[-1] == _TIMED_OUT:
        return "the command took longer than it may, and was ended"
    last = next((error for error in reversed(errors) if error != _ENDED), "")  # `run` says it of any that failed
    if code is not None and code < 0:
        return f"the command was ended by {_signal(-code)}{f': {_shortened(last)}' if last else ''}"
    with_code = f" with exit code {code}" if code else ""
    reason = f": {_shortened(last)}" if last else "" if code else ", and nothing says why"
    return f"the run failed{with_code}{reason}"


def _signal(number: int) -> str:
    try:
        return str(import_module("signal").Signals(number).name)
    except ValueError:
        return f"signal {number}"


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
        known = "of tool calls nothing but the names" if run.diagnosis.evidence_summary.tool_calls else "no tool call"
        yield Remark("", f"nothing to judge by: {known} and no model call is in the evidence")


def _blind(run: RunReport) -> Iterator[Remark]:
    blind = not_judged(run.diagnosis)
    if len(blind) > _BLIND:
        lacking = ", ".join(run.diagnosis.evidence_summary.missing)
        blind = [f"{len(blind)} failure types, since the traces lack {lacking}; doctor tells what brings it"]
    if blind:
        yield Remark("not judged", ", ".join(blind))


def _files(run: RunReport) -> Iterator[Remark]:
    if run.among_many and run.files:
        yield Remark("from", some(run.files, _FILES), telling=False)


def _known(run: RunReport) -> Iterator[Remark]:
    told = [
        f"{cause.type} ({one_line(run.known[cause.fingerprint])})"
        for cause in run.diagnosis.failure_causes
        if run.is_known(cause)
    ]
    if told:
        yield Remark("known, let pass", some(list(dict.fromkeys(told)), _FILES), telling=False)


def _money(run: RunReport) -> Iterator[Remark]:
    costs = run.diagnosis.cost_analysis
    if costs.cost is None:
        return
    least = "" if costs.cost_complete else "at least "
    said = f"{least}{_amount(costs.cost, costs.currency)} by the prices of {costs.prices_as_of}"
    if costs.unpriced_models:
        said += f", without {some(costs.unpriced_models, _FILES)}, whose price is not known"
    if costs.wasted_cost:
        by_cause = [
            f"{name} {_amount(amount, costs.currency)}" for name, amount in (costs.waste_by_cause or {}).items()
        ]
        said += f"; for nothing: {_amount(costs.wasted_cost, costs.currency)} ({some(by_cause, _FILES)})"
    yield Remark("cost", said, telling=False)


def _amount(amount: float, currency: str | None) -> str:
    digits = 2 if amount >= 1 else _SMALL
    return f"${amount:,.{digits}f}" if currency == "USD" else f"{amount:,.{digits}f} {currency}"


_TELLERS: Sequence[Callable[[RunReport], Iterator[Remark]]] = (
    *(_ending, _errors, _too_little, _blind),
    *(_known, _money, _files),
)


def _shortened(text: str) -> str:
    return cut(one_line(text), _LENGTH)
