"""Spans and log records that hypothesis draws: everything that OTLP can say of them."""

from hypothesis import strategies as st

from critiqor_otel.span import Link, LogRecord, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["LOGS", "SPANS"]

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SCALARS = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.binary(max_size=40),
    st.none(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ATTRIBUTES = st.dictionaries(TEXTS, VALUES, max_size=4)
TIMES = st.integers(0, 2**64 - 1)
COUNTS = st.integers(0, 2**32 - 1)


def ids(size: int) -> st.SearchStrategy[str]:
    return st.binary(min_size=size, max_size=size).filter(any).map(bytes.hex)


TRACE_IDS, SPAN_IDS = ids(16), ids(8)
# Resources and scopes hold something: an empty one can't be told from an absent one.
RESOURCES = st.builds(Resource, ATTRIBUTES.filter(bool), schema_url=TEXTS)
SCOPES = st.builds(Scope, name=TEXTS.filter(bool), version=TEXTS, attributes=ATTRIBUTES, schema_url=TEXTS)
SPANS = st.builds(
    Span,
    trace_id=TRACE_IDS,
    span_id=SPAN_IDS,
    parent_span_id=st.none() | SPAN_IDS,
    name=TEXTS,
    kind=st.sampled_from(SpanKind),
    start_ns=TIMES,
    end_ns=TIMES,
    attributes=ATTRIBUTES,
    status=st.sampled_from(StatusCode),
    status_message=TEXTS,
    events=st.lists(st.builds(SpanEvent, TIMES, TEXTS, ATTRIBUTES), max_size=2).map(tuple),
    links=st.lists(st.builds(Link, TRACE_IDS, SPAN_IDS, ATTRIBUTES), max_size=2).map(tuple),
    trace_state=TEXTS,
    flags=COUNTS,
    dropped_attributes=COUNTS,
    dropped_events=COUNTS,
    dropped_links=COUNTS,
    resource=RESOURCES,
    scope=SCOPES,
)
LOGS = st.builds(
    LogRecord,
    time_ns=TIMES.filter(bool),
    name=TEXTS.filter(bool),
    trace_id=st.none() | TRACE_IDS,
    span_id=st.none() | SPAN_IDS,
    body=VALUES,
    attributes=ATTRIBUTES,
    severity_number=st.integers(0, 24),
    severity_text=TEXTS,
    resource=RESOURCES,
    scope=SCOPES,
)
