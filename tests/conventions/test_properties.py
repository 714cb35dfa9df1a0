"""No attribute, whatever it holds, makes a table raise; and the same span always gives the same facts."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from record_facts import record_facts

from critiqor_otel.conventions import convention as cells
from critiqor_otel.conventions.convention import Cell, Field
from critiqor_otel.conventions.records import spans_of_events
from critiqor_otel.conventions.registry import ALL, facts_of
from critiqor_otel.span import LogRecord, Resource, Scope, Span, SpanEvent


def _keys(cell: Cell) -> set[str]:
    if isinstance(cell, cells.When):
        return {cell.key, *_keys(cell.cell)}
    return {cell.key} if isinstance(cell, cells.At | cells.FromEvent | cells.FromResource) else set()


KEYS = sorted({key for table in ALL for row in table.fields.values() for cell in row for key in _keys(cell)})
KINDS = {table.kind_key: sorted(table.kinds) for table in ALL if table.kind_key is not None}
WORDS = sorted({word for words in KINDS.values() for word in words})
NAMES = sorted({name for table in ALL for name in table.names})
INDEXED = [
    "llm.input_messages.0.message.role",
    "llm.input_messages.0.message.tool_calls.0.tool_call.function.name",
    "llm.output_messages.0",
    "gen_ai.prompt.0.content",
    "gen_ai.completion.0.tool_calls.0.arguments",
    "llm.tools.0.tool.json_schema",
    "retrieval.documents.0.document.content",
]
EVENTS = [
    "gen_ai.choice",
    "gen_ai.tool.message",
    "gen_ai.user.message",
    "tool.output",
    "exception",
    "codex.tool_result",
]
SIGNS = [table.signs for table in ALL if table.signs is not None]
SIGNS_ON_SPANS = sorted({key for signs in SIGNS for key in signs.keys})
SCOPES = ["", *sorted({scope for signs in SIGNS for scope in signs.scopes})]
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(WORDS),
    st.sampled_from(
        [
            '{"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [1]}]}]}',
            '[{"role": "assistant", "parts": [{"type": "tool_call"}]}, {"role',
            '{"kwargs": {"a": [',
            "{'a': 1}",
            '{"message": {"type": "ToolCallRequestEvent", "content": [null, {"id": 1}]}}',
            '{"usage": {"prompt_tokens": "x"}, "token_usage": 3, "input": -1}',
            "TaskOutput(messages=[{'role': 1}, 2])",
            "[" * 3_000,
            "prompt_tokens=x =",
        ]
    ),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(TEXTS, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.binary(max_size=8), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["role", "content", "parts", "type", "text", "name", "id", "arguments", "function", "message"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(st.sampled_from([*KEYS, *KINDS, *INDEXED, *SIGNS_ON_SPANS]), VALUES, max_size=12)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    events = draw(st.lists(st.tuples(st.sampled_from([*EVENTS, *NAMES]), ATTRIBUTES), max_size=3))
    return Span(
        trace_id="1" * 32,
        span_id="2" * 16,
        name=draw(st.one_of(st.sampled_from(NAMES), st.text(max_size=12))),
        attributes={
            **draw(ATTRIBUTES),
            **draw(st.dictionaries(st.sampled_from(sorted(KINDS)), st.sampled_from(WORDS), max_size=2)),
        },
        events=tuple(SpanEvent(1, name, {**attributes, "body": attributes}) for name, attributes in events),
        resource=Resource(draw(ATTRIBUTES)),
        scope=Scope(draw(st.sampled_from(SCOPES))),
    )


@given(spans())
def test_no_attribute_values_make_a_field_raise(span: Span) -> None:
    facts = facts_of(span)
    for field in Field:
        facts.get(field)


@given(spans())
def test_reading_changes_nothing_and_reads_the_same_again(span: Span) -> None:
    before = repr(span)
    first = {field: repr(facts_of(span).get(field)) for field in Field}

    assert {field: repr(facts_of(span).get(field)) for field in Field} == first
    assert repr(span) == before


@given(spans())
def test_events_of_any_content_become_spans_or_not(span: Span) -> None:
    assert all(inner.parent_span_id == span.span_id for inner in spans_of_events(span))


@given(st.sampled_from(["user_prompt", "codex.sse_event", "openclaw.x", ""]), ATTRIBUTES, VALUES)
def test_records_of_any_content_become_spans_or_not(name: str, attributes: dict[str, Any], body: Any) -> None:
    record = LogRecord(time_ns=5, name=name, attributes=attributes, body=body)
    facts = record_facts(record)

    assert (facts is None) or facts.span.start_ns <= facts.span.end_ns == 5
