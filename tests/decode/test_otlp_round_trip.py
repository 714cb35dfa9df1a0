"""What was written by the official libraries is read back as it was, from protobuf and JSON alike.

Compared as Python spells it, since 1, 1.0 and True are equal.
"""

import json

from drawn_spans import LOGS, SPANS
from hypothesis import given
from hypothesis import strategies as st
from written_otlp import library_json, log_request, standard_json, trace_request

from critiqor_otel.decode import otlp_json, otlp_protobuf
from critiqor_otel.decode.otlp_json_forms import read_request
from critiqor_otel.span import LogRecord, Span

FEW_SPANS = st.lists(SPANS, min_size=1, max_size=2)
FEW_LOGS = st.lists(LOGS, min_size=1, max_size=3)


@given(spans=FEW_SPANS)
def test_spans_come_back_from_protobuf(spans: list[Span]) -> None:
    batch = otlp_protobuf.decode_traces(trace_request(spans).SerializeToString())

    assert repr(list(batch.spans)) == repr(spans)
    assert batch.notes == ()


@given(spans=FEW_SPANS)
def test_spans_come_back_from_standard_json(spans: list[Span]) -> None:
    batch = otlp_json.decode_traces(standard_json(trace_request(spans)))

    assert repr(list(batch.spans)) == repr(spans)
    assert batch.notes == ()


@given(spans=FEW_SPANS)
def test_spans_come_back_from_the_json_of_protobuf_libraries(spans: list[Span]) -> None:
    batch = otlp_json.decode_traces(library_json(trace_request(spans)))

    assert repr(list(batch.spans)) == repr(spans)
    assert batch.notes == ()


@given(logs=FEW_LOGS)
def test_log_records_come_back_from_protobuf_and_json(logs: list[LogRecord]) -> None:
    request = log_request(logs)

    assert repr(list(otlp_protobuf.decode_logs(request.SerializeToString()).logs)) == repr(logs)
    assert repr(list(otlp_json.decode_logs(standard_json(request)).logs)) == repr(logs)
    assert repr(list(otlp_json.decode_logs(library_json(request)).logs)) == repr(logs)


@given(spans=FEW_SPANS)
def test_the_lenient_way_reads_standard_json_as_the_fast_one_does(spans: list[Span]) -> None:
    fast = standard_json(trace_request(spans))
    slow = json.dumps({**json.loads(fast), "aFieldOfTheFuture": {"x": [1, None]}}).encode()
    read_request(fast)

    assert otlp_json.decode_traces(slow) == otlp_json.decode_traces(fast)
