"""The verdict as spans of the run's trace: where they stand, what they say, and that they are no evidence."""

from pathlib import Path

import msgspec
import pytest
from command import CAPTURES, LOOP
from drawn_sessions import SESSIONS, many
from hypothesis import given, settings

from analyzer.cause import FailureCause, Severity
from analyzer.diagnosis import diagnose
from analyzer.session.codec import read_session, write_session
from analyzer.session.model import Session
from analyzer.verdict import Diagnosis
from critiqor_otel.annotate.verdict_spans import verdict_spans
from critiqor_otel.emit.session_spans import spans_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span, StatusCode

CASES = sorted((Path(__file__).parents[1] / "cases" / "critiqor-v1").glob("*.session.json"))[::5]


def captured(path: Path = LOOP) -> list[Span]:
    return [span for batch in read_paths([str(path)]) for span in batch.spans]


def annotated(session: Session) -> tuple[Span, ...]:
    return verdict_spans(session, diagnose(session))


@pytest.fixture
def loop() -> Session:
    (session,) = reconstruct(captured()).sessions
    return session


def test_the_diagnosis_stands_under_the_agent_and_failures_under_the_diagnosis(loop: Session) -> None:
    diagnosis, failure = annotated(loop)
    agent = next(span for span in captured() if span.name.startswith("invoke_agent"))

    assert (diagnosis.trace_id, diagnosis.parent_span_id) == (agent.trace_id, agent.span_id)
    assert (failure.trace_id, failure.parent_span_id) == (agent.trace_id, diagnosis.span_id)
    assert (diagnosis.name, failure.name) == ("critiqor.diagnosis", "critiqor.failure infinite_tool_loop")
    assert diagnosis.resource == failure.resource == agent.resource


def test_they_say_what_the_verdict_says(loop: Session) -> None:
    diagnosis, failure = annotated(loop)

    assert diagnosis.attributes["critiqor.readiness"] == "unsafe_for_production"
    assert diagnosis.attributes["critiqor.trust_score"] == 49
    assert diagnosis.attributes["critiqor.primary_failure"] == "infinite_tool_loop"
    assert diagnosis.attributes["gen_ai.evaluation.score.value"] == 49.0
    assert (diagnosis.status, diagnosis.status_message) == (StatusCode.ERROR, "unsafe for production")
    assert failure.attributes["gen_ai.evaluation.name"] == "critiqor.infinite_tool_loop"
    assert failure.attributes["gen_ai.evaluation.score.label"] == "critical"
    assert failure.status is StatusCode.ERROR


def test_a_failure_links_to_its_evidence_and_lasts_as_long(loop: Session) -> None:
    _, failure = annotated(loop)
    (cause,) = diagnose(loop).failure_causes
    tools = [span for span in captured() if span.name.startswith("execute_tool")]

    assert [(link.trace_id, link.span_id) for link in failure.links] == [
        (span.trace_id, span.span_id) for span in cause.spans
    ]
    assert {link.span_id for link in failure.links} == {span.span_id for span in tools}
    assert failure.links[0].attributes == {"critiqor.evidence": cause.evidence[0]}
    assert failure.start_ns == min(span.start_ns for span in tools)
    assert failure.end_ns == max(span.end_ns for span in tools)


def test_a_run_without_failures_has_a_diagnosis_that_is_no_error() -> None:
    (session,) = reconstruct(captured(CAPTURES / "pydantic_ai" / "clean_two_tools.otlp.jsonl")).sessions

    (diagnosis,) = annotated(session)

    assert diagnosis.status is StatusCode.UNSET
    assert "critiqor.primary_failure" not in diagnosis.attributes


def test_the_same_verdict_is_the_same_spans_and_one_on_more_evidence_is_not(loop: Session) -> None:
    more = msgspec.structs.replace(loop, events=(*loop.events, *many(1)))

    assert annotated(loop) == annotated(loop)
    assert {span.span_id for span in annotated(loop)}.isdisjoint(span.span_id for span in annotated(more))


def test_they_are_no_evidence(loop: Session) -> None:
    again = reconstruct([*captured(), *annotated(loop)])

    assert [write_session(session) for session in again.sessions] == [write_session(loop)]
    assert [note.code for note in again.notes] == ["annotation-spans"]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem.removesuffix(".session"))
def test_a_session_that_never_was_spans_is_annotated_where_replay_puts_it(path: Path) -> None:
    session = read_session(path.read_bytes())
    replayed = {span.span_id: span for span in spans_of(session)}

    found = annotated(session)

    assert found[0].parent_span_id in replayed
    assert {link.span_id for span in found for link in span.links} <= replayed.keys()
    assert {span.trace_id for span in found} == {span.trace_id for span in replayed.values()}


@settings(max_examples=60)
@given(session=SESSIONS)
def test_any_session_can_be_annotated_within_its_time(session: Session) -> None:
    found = annotated(session)

    whole = found[0]
    assert whole.start_ns < whole.end_ns
    assert all(whole.start_ns <= span.start_ns < span.end_ns <= whole.end_ns for span in found)
    assert len({span.span_id for span in found}) == len(found)


def test_what_is_too_much_to_show_is_counted() -> None:
    session = Session(run_id="big", events=many(300))
    ids = tuple(event.event_id for event in session.events)
    causes = tuple(FailureCause(f"type {n}", Severity.LOW, -1, "it failed", evidence=ids) for n in range(200))

    diagnosis, *failures = verdict_spans(session, Diagnosis(run_id="big", failure_causes=causes))

    assert diagnosis.attributes["critiqor.failures"] == 200
    assert len(failures) == 128
    assert {len(span.attributes["critiqor.failure.evidence"]) for span in failures} == {128}  # type: ignore[arg-type]


def test_secrets_do_not_leave_with_a_verdict() -> None:
    cause = FailureCause("leak", Severity.HIGH, -1, "called with api_key=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789")

    spans = verdict_spans(Session(run_id="r", events=many(1)), Diagnosis(run_id="r", failure_causes=(cause,)))

    assert "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789" not in repr(spans)
