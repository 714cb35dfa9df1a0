"""Log records and span events that stand for themselves."""

from typing import Any

import msgspec
import pytest
from record_facts import record_facts

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.records import span_of_record, spans_of_events
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.span import LogRecord, Scope, Span, SpanEvent

NOW = 1_796_061_950_000_000_000
CLAUDE = Scope("com.anthropic.claude_code.events")


def codex(name: str, **attributes: Any) -> LogRecord:
    return LogRecord(
        time_ns=NOW,
        name="event otel/src/events/session_telemetry.rs:967",
        trace_id="a" * 32,
        span_id="b" * 16,
        attributes={"event.name": f"codex.{name}", "conversation.id": "c-1", **attributes},
        scope=Scope("codex_otel.log_only"),
    )


def claude(name: str, **attributes: Any) -> LogRecord:
    return LogRecord(
        time_ns=NOW,
        name=name,
        body=f"claude_code.{name}",
        attributes={"event.name": name, "session.id": "s-1", **attributes},
        scope=CLAUDE,
    )


def test_a_record_becomes_a_span_of_the_length_it_tells() -> None:
    span = span_of_record(claude("tool_result", tool_name="Bash", duration_ms="54"))

    assert span is not None
    assert (span.name, span.end_ns, span.end_ns - span.start_ns) == ("claude_code.tool_result", NOW, 54_000_000)
    assert span.attributes["tool_name"] == "Bash"


@pytest.mark.parametrize("duration", ["soon", -5, "9" * 30, None, [1], 10**400])
def test_a_duration_that_can_not_be_is_none(duration: Any) -> None:
    span = span_of_record(claude("tool_result", duration_ms=duration))

    assert span is not None
    assert span.start_ns == span.end_ns == NOW


def test_the_ids_come_from_what_the_record_says() -> None:
    first, again = span_of_record(claude("user_prompt")), span_of_record(claude("user_prompt"))
    other = span_of_record(msgspec.structs.replace(claude("user_prompt"), time_ns=NOW + 1))

    assert first is not None
    assert other is not None
    assert first == again
    assert first.trace_id == other.trace_id
    assert first.span_id != other.span_id
    assert first.parent_span_id is None


def test_a_record_that_names_a_span_stands_inside_it() -> None:
    span = span_of_record(codex("tool_result", tool_name="exec_command"))

    assert span is not None
    assert (span.trace_id, span.parent_span_id) == ("a" * 32, "b" * 16)


@pytest.mark.parametrize("name", ["gen_ai.user.message", "gen_ai.choice", "exception", "", "user_prompt"])
def test_a_record_that_belongs_to_a_span_or_to_nobody_is_no_span(name: str) -> None:
    record = LogRecord(time_ns=NOW, name=name, body="a line of a log")

    assert span_of_record(record) is None
    assert record_facts(record) is None


def test_codex_tells_failure_in_a_commands_output_alone() -> None:
    output = (
        "Chunk ID: 1b7607\nWall time: 0.0000 seconds\nProcess exited with code "
        "1\nOriginal token count: 6\nOutput:\nno such file\n"
    )
    facts = record_facts(
        codex("tool_result", tool_name="exec_command", call_id="call_1", success="true", output=output)
    )

    assert facts is not None
    assert facts.role is SpanRole.TOOL
    assert facts.get(Field.EXIT_CODE) == 1
    assert facts.get(Field.FAILED) is False
    assert facts.get(Field.TOOL_RESULT) == "no such file\n"
    assert facts.get(Field.SESSION_ID) == "c-1"


@pytest.mark.parametrize(
    ("output", "code", "result"),
    [
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nusage: x\n", 2, "usage: x\n"),
        ('{"output": "hi\\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}', 0, "hi\n"),
        ("Output:\nof the tool itself", None, "Output:\nof the tool itself"),
        ("plain", None, "plain"),
    ],
)
def test_each_head_codex_wrote_before_an_output_is_taken_off(output: str, code: int | None, result: str) -> None:
    facts = record_facts(codex("tool_result", output=output))

    assert facts is not None
    assert (facts.get(Field.EXIT_CODE), facts.get(Field.TOOL_RESULT)) == (code, result)


@pytest.mark.parametrize(
    ("record", "role"),
    [
        (codex("sse_event", **{"event.kind": "response.completed", "input_token_count": "1200"}), SpanRole.MODEL),
        (codex("sse_event", **{"event.kind": "response.completed", "duration_ms": "0"}), SpanRole.OTHER),
        (codex("sse_event", **{"event.kind": "response.created"}), SpanRole.OTHER),
        (codex("api_request", attempt=0), SpanRole.OTHER),
        (codex("api_request", **{"attempt": 2, "http.response.status_code": 429}), SpanRole.RETRY),
        (codex("user_prompt", prompt="Hi"), SpanRole.MESSAGE),
        (claude("api_error", attempt="2", error="overloaded"), SpanRole.RETRY),
        (claude("compaction", trigger="auto", success="true", pre_tokens="90000"), SpanRole.CONTEXT),
        (claude("skill_activated", **{"skill.name": "pdf"}), SpanRole.SKILL),
        (claude("tool_decision", decision="accept"), SpanRole.OTHER),
        (claude("mcp_server_connection"), SpanRole.OTHER),
    ],
)
def test_each_kind_of_record_has_its_role(record: LogRecord, role: SpanRole) -> None:
    facts = record_facts(record)

    assert facts is not None
    assert facts.role is role


def test_claude_codes_records_tell_what_their_spans_leave_out() -> None:
    failed = record_facts(
        claude(
            "tool_result",
            tool_name="Bash",
            tool_use_id="t1",
            success="false",
            error="Exit code 2\nno",
            tool_input='{"command":"x"}',
        )
    )
    compacted = record_facts(claude("compaction", trigger="auto", success="true", pre_tokens="90000"))

    assert failed is not None
    assert compacted is not None
    assert failed.get(Field.FAILED) is True
    assert failed.get(Field.EXIT_CODE) == 2
    assert failed.get(Field.TOOL_ARGUMENTS) == {"command": "x"}
    assert failed.get(Field.CONTEXT_COMPACTED) is None
    assert compacted.get(Field.CONTEXT_COMPACTED) is True
    assert compacted.get(Field.CONTEXT_USED) == 90_000


def test_an_evaluation_and_a_second_attempt_stand_for_themselves() -> None:
    evaluation = SpanEvent(NOW, "gen_ai.evaluation.result", {"gen_ai.evaluation.name": "Relevance"})
    attempts = [SpanEvent(NOW + n, "gen_ai.request.attempt", {"attempt": n}) for n in (1, 2)]
    span = Span(trace_id="1" * 32, span_id="2" * 16, events=(evaluation, *attempts, SpanEvent(NOW, "exception")))
    found = [facts_of(each) for each in spans_of_events(msgspec.structs.replace(span, scope=CLAUDE))]

    assert [facts.role for facts in found] == [SpanRole.EVALUATION, SpanRole.RETRY]
    assert found[0].get(Field.EVALUATION_NAME) == "Relevance"
    assert found[1].get(Field.ATTEMPT) == 2
    assert {facts.span.parent_span_id for facts in found} == {"2" * 16}


@pytest.mark.parametrize(
    ("name", "count"),
    [
        *((name, 1) for name in ("retry", "Retry", "gen_ai.retry", "llm.retry", "retrying", "retry_attempt")),
        *(
            (name, False)
            for name in ("retry_success", "retry_policy", "no_retry_needed", "entry", "carretry", "exception")
        ),
    ],
)
def test_an_event_named_for_a_retry_is_one(name: str, count: int) -> None:
    event = SpanEvent(NOW, name, {"retry.attempt": 1, "error.message": "timed out"})
    span = Span(trace_id="1" * 32, span_id="2" * 16, events=(event,))
    found = [facts_of(each) for each in spans_of_events(span)]

    told = [(facts.role, facts.get(Field.ATTEMPT), facts.get(Field.REASON)) for facts in found]
    assert told == [(SpanRole.RETRY, 1, "timed out")] * count


def test_an_evaluation_that_came_as_a_record_is_the_same() -> None:
    record = LogRecord(
        time_ns=NOW,
        name="gen_ai.evaluation.result",
        trace_id="1" * 32,
        span_id="2" * 16,
        attributes={"gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.value": 0.2},
    )
    facts = record_facts(record)

    assert facts is not None
    assert facts.role is SpanRole.EVALUATION
    assert facts.get(Field.EVALUATION_SCORE) == 0.2
