"""A report as JUnit XML, which CI systems show as test results.

A run is a test suite, and each failure type one of its test cases: failed, passed, or skipped where the traces lack
what its detector needs. So a CI system shows since when an agent fails in which way. A failure is one at or above the
severity that fails the command; what is below stands in the suite's output.
"""

import html
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from analyzer.cause import FailureCause
from analyzer.detectors.registry import ALL
from analyzer.report import words
from analyzer.report.plain import one_line
from analyzer.report.remarks import missing_facts_of
from analyzer.report.report import Look, Report, RunReport
from analyzer.verdict import Diagnosis

__all__ = ["render"]


class _State(Enum):
    PASSED = auto()
    FAILED = auto()
    SKIPPED = auto()


class _Case(NamedTuple):
    """A failure type and what became of it in a run."""

    name: str
    state: _State
    body: str = ""


def render(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the document, a suite a run."""
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="critiqor-otel">\n'
    for run in report.runs:
        yield "".join(_suite(run, look)).encode()
    yield b"</testsuites>\n"


def _suite(run: RunReport, look: Look) -> Iterator[str]:
    cases = _cases(run, look)
    counted = Counter(case.state for case in cases)
    took = run.diagnosis.runtime_metrics.latency
    seconds = "" if took is None else f' time="{took:.3f}"'
    yield (
        f'  <testsuite name={_quoted(run.diagnosis.run_id)} tests="{len(cases)}" failures="{counted[_State.FAILED]}"'
        f' errors="0" skipped="{counted[_State.SKIPPED]}"{seconds}>\n'
    )
    yield from _properties(run.diagnosis)
    agent = _quoted(words.agent(run.diagnosis))
    for case in cases:
        body = f">\n{case.body}    </testcase>\n" if case.body else "/>\n"
        yield f"    <testcase classname={agent} name={_quoted(case.name)}{body}"
    passing = [cause for cause in run.diagnosis.failure_causes if not run.fails(cause, look.fail_on)]
    if passing:
        said = "\n".join(f"{words.failure(cause)}: {one_line(cause.description)}" for cause in passing)
        yield f"    <system-out>{_escaped(said)}</system-out>\n"
    yield "  </testsuite>\n"


def _properties(verdict: Diagnosis) -> Iterator[str]:
    yield "    <properties>\n"
    for name, value in (
        ("trust", words.trust(verdict)),
        ("readiness", verdict.readiness_level.value),
        ("status", verdict.status.value),
        ("tool_calls", words.tool_calls(verdict.evidence_summary)),
        ("tokens", words.tokens(verdict.evidence_summary)),
    ):
        yield f'      <property name="{name}" value={_quoted(value)}/>\n'
    yield "    </properties>\n"


def _cases(run: RunReport, look: Look) -> list[_Case]:
    """Return a test case a failure type, in the order of the detectors, then those that no detector here finds."""
    by_type: dict[str, list[FailureCause]] = {detector.failure_type: [] for detector in ALL}
    for cause in run.diagnosis.failure_causes:
        by_type.setdefault(cause.type, []).append(cause)
    lacking = missing_facts_of(run.diagnosis)
    cases: list[_Case] = []
    for name, causes in by_type.items():
        failing = [cause for cause in causes if run.fails(cause, look.fail_on)]
        if failing:
            cases.append(_Case(name, _State.FAILED, _failure(failing)))
        elif name in lacking and not causes:
            message = f"{', '.join(lacking[name])} missing"
            cases.append(_Case(name, _State.SKIPPED, f"      <skipped message={_quoted(message)}/>\n"))
        else:
            cases.append(_Case(name, _State.PASSED))
    return cases


def _failure(causes: Sequence[FailureCause]) -> str:
    """Return one element for the failures of a type: a test case has one."""
    first = causes[0]
    more = f" (and {len(causes) - 1} more)" if len(causes) > 1 else ""
    told = "\n\n".join(_told(cause) for cause in causes)
    message = f"{one_line(first.description)}{more}"
    return f'      <failure message={_quoted(message)} type="{first.severity}">{_escaped(told)}</failure>\n'


def _told(cause: FailureCause) -> str:
    lines = [f"{words.failure(cause)}: {one_line(cause.description)}"]
    if cause.root_cause is not None:
        lines.append(f"why: {one_line(cause.root_cause.description)}")
    if cause.recommendation:
        lines.append(f"fix: {one_line(cause.recommendation)}")
    lines.append(f"evidence: {', '.join(map(one_line, cause.evidence))}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return f'"{html.escape(one_line(text))}"'


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)
