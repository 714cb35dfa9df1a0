"""A run with two failures, whose strings are as hostile as a trace's may be."""

from dataclasses import replace

import pytest
from msgspec import structs

from analyzer.cause import Confidence, FailureCause, RootCause, Severity
from analyzer.report.report import RunReport, report_run
from analyzer.session.model import Agent, Event, Note, Session, SpanRef
from analyzer.verdict import Diagnosis, EvidenceSummary, PrimaryDiagnosis, Readiness, RunStatus, Tokens

HOSTILE = "x\x1b[2J\r| <b>@user</b> `rm` [a](http://b) \u202e*"


def session() -> Session:
    calls = tuple(
        Event(
            event_id=f"event_{number}",
            event="tool_call",
            event_type="tool_call",
            time_ns=1_700_000_000_000_000_000 + number,
            tool_name=HOSTILE,
            span=SpanRef("a" * 32, f"{number:016x}"),
            payload={"input": {"query": f"退款\x1b[31m{HOSTILE}"}},
        )
        for number in range(9)
    )
    return Session(run_id=f"run-{HOSTILE}", events=calls, agent=Agent(name=f"agent-{HOSTILE}"))


def diagnosis(of: Session) -> Diagnosis:
    loop = FailureCause(
        type="infinite_tool_loop",
        severity=Severity.CRITICAL,
        confidence=Confidence.MEDIUM,
        impact=-30,
        description=f"{HOSTILE} was called 9 times with the same arguments",
        root_cause=RootCause("Nothing new was learned", "time", -30, "stop"),
        recommendation=f"Return an error after the second call of {HOSTILE}",
        evidence=tuple(event.event_id for event in of.events),
    )
    cost = FailureCause(
        type="cost_explosion", severity=Severity.HIGH, impact=-12, description="Costly", evidence=("event_1",)
    )
    return Diagnosis(
        run_id=of.run_id,
        agent=of.agent,
        status=RunStatus.COMPLETED,
        trust_score=49,
        readiness_level=Readiness.UNSAFE_FOR_PRODUCTION,
        failure_causes=(cost, loop),
        primary_diagnosis=PrimaryDiagnosis(
            root_cause_failure_type=loop.type,
            causal_chain_explanation=f"call -> call {HOSTILE}",
            severity=loop.severity,
            description=loop.description,
        ),
        evidence_summary=EvidenceSummary(tool_calls=9, tool_errors=2, tokens=Tokens(total=12345, complete=False)),
        notes=(Note(code="orphan-span", message=f"parent of {HOSTILE} is missing"),),
    )


@pytest.fixture
def failing() -> RunReport:
    found = session()
    return report_run(diagnosis(found), found)


@pytest.fixture
def clean() -> RunReport:
    found = Session(run_id="clean", agent=Agent(framework="langchain"))
    verdict = Diagnosis(run_id="clean", agent=found.agent, readiness_level=Readiness.SAFE_TO_DEPLOY)
    return report_run(verdict, found)


@pytest.fixture
def mild(failing: RunReport) -> RunReport:
    """A run whose only failure is of severity low."""
    low = replace(failing.diagnosis.failure_causes[1], severity=Severity.LOW, marks=("progressing",))
    primary = structs.replace(failing.diagnosis.primary_diagnosis, severity=Severity.LOW)
    return report_run(structs.replace(failing.diagnosis, failure_causes=(low,), primary_diagnosis=primary), session())
