"""What is wrong in a protobuf request costs itself only, and is told."""

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1 import trace_pb2
from written_otlp import trace_request

from critiqor_otel.decode.otlp_protobuf import decode_logs, decode_traces
from critiqor_otel.decode.wire import write_varint
from critiqor_otel.errors import DecodeError
from critiqor_otel.span import Resource, Scope, Span, SpanKind

TRACE = "07f4546263c09ec6470fa879b8d2f147"


def span(number: int, **fields: object) -> Span:
    return Span(trace_id=TRACE, span_id=f"{number:016x}", name=f"span {number}", **fields)  # type: ignore[arg-type]


def written(*spans: Span) -> bytes:
    return trace_request(spans).SerializeToString()


def notes(data: bytes) -> list[tuple[str, str]]:
    return [(note.code, note.message) for note in decode_traces(data).notes]


def names(data: bytes) -> list[str]:
    return [found.name for found in decode_traces(data).spans]


def lengthened(tag: bytes, content: bytes) -> bytes:
    return tag + write_varint(len(content)) + content


def with_ids(trace_id: bytes, span_id: bytes, name: str = "bad") -> trace_pb2.Span:
    return trace_pb2.Span(trace_id=trace_id, span_id=span_id, name=name)


def test_spans_of_a_block_share_their_resource_and_scope() -> None:
    request = ExportTraceServiceRequest()
    block = request.resource_spans.add()
    block.resource.attributes.add(key="service.name").value.string_value = "agent"
    part = block.scope_spans.add()
    part.scope.name = "tracer"
    part.spans.extend([with_ids(b"t" * 16, bytes([number]) * 8) for number in range(1, 3)])

    first, second = decode_traces(request.SerializeToString()).spans

    assert first.resource is second.resource
    assert first.scope is second.scope
    assert (first.resource, first.scope) == (Resource({"service.name": "agent"}), Scope("tracer"))


def test_concatenated_requests_are_one() -> None:
    assert names(written(span(1)) + written(span(2))) == ["span 1", "span 2"]


def test_an_empty_body_is_an_empty_request() -> None:
    assert decode_traces(b"").spans == ()
    assert decode_logs(b"").logs == ()


@pytest.mark.parametrize("data", [b"hello, world", b"\x1a\x00", b"{}", b"\xff" * 20])
def test_bytes_that_are_no_request_are_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_traces(data)


def test_spans_with_invalid_ids_are_left_out_and_told() -> None:
    request = ExportTraceServiceRequest()
    good = with_ids(b"t" * 16, b"s" * 8, "good")
    bad = [
        with_ids(bytes(16), bytes(8)),
        with_ids(b"", b""),
        with_ids(b"\xab\xcd", b"s" * 8),
        with_ids(TRACE.encode(), b"s" * 8),
        with_ids(b"t" * 16, bytes(8)),
    ]
    request.resource_spans.add().scope_spans.add().spans.extend([bad[0], good, *bad[1:]])
    data = request.SerializeToString()

    batch = decode_traces(data, place="here")

    assert [found.name for found in batch.spans] == ["good"]
    assert batch.rejected == 5
    (note,) = batch.notes
    assert (note.code, note.place) == ("invalid-id", "here")
    assert note.message == (
        "5 records left out, having no valid ids: span id all zero; trace id all zero; trace id empty; "
        "trace id of 2 bytes; trace id of 32 bytes"
    )


def test_an_invalid_parent_makes_a_root() -> None:
    request = ExportTraceServiceRequest()
    child = with_ids(b"t" * 16, b"s" * 8, "child")
    child.parent_span_id = b"abc"
    request.resource_spans.add().scope_spans.add().spans.append(child)

    batch = decode_traces(request.SerializeToString())

    assert batch.spans[0].parent_span_id is None
    assert [note.code for note in batch.notes] == ["invalid-parent-id"]
    assert batch.rejected == 0


def test_text_that_is_no_utf8_is_mended_and_its_neighbours_are_as_they_were() -> None:
    data = written(span(1, attributes={"a": "bad: ????", "b": "good"}), span(2)).replace(b"????", b"\xff\xfe\xc3(")

    first, second = decode_traces(data).spans

    assert first.attributes == {"a": "bad: \ufffd\ufffd\ufffd(", "b": "good"}
    assert second == span(2)
    assert notes(data) == [
        ("invalid-text", "1 text holding what is no Unicode, replaced by U+FFFD: bytes that are no UTF-8")
    ]


@pytest.mark.parametrize("where", ["name", "status_message", "trace_state"])
def test_bad_text_outside_of_attributes_is_mended(where: str) -> None:
    data = (
        written(span(1, **{where: "????"})).replace(b"????", b"\xff" * 4)
        if where != "name"
        else (written(span(1)).replace(b"span 1", b"\xff\xff\xff\xff\xff\xff"))
    )

    assert "\ufffd" in getattr(decode_traces(data).spans[0], where)
    assert [code for code, _ in notes(data)] == ["invalid-text"]


def test_bad_text_in_a_key_of_a_nested_value_is_mended() -> None:
    data = written(span(1, attributes={"a": [{"????": 1}]})).replace(b"????", b"\xff" * 4)

    assert decode_traces(data).spans[0].attributes == {"a": [{"\ufffd" * 4: 1}]}


@pytest.mark.parametrize("size", [*range(1, 40), 100, 200, 300])
def test_the_whole_spans_before_a_cut_are_kept(size: int) -> None:
    whole = [span(number, attributes={"text": "x" * 50}) for number in range(1, 6)]
    data = written(*whole)[:-size]

    kept = list(decode_traces(data).spans)

    assert kept == whole[: len(kept)]
    assert len(kept) >= 2
    assert [code for code, _ in notes(data)] == ["cut-file"]


def test_the_whole_spans_of_a_cut_block_are_kept() -> None:
    request = ExportTraceServiceRequest()
    spans = [with_ids(b"t" * 16, bytes([number]) * 8, f"span {number}") for number in range(1, 4)]
    request.resource_spans.add().scope_spans.add().spans.extend(spans)

    assert names(request.SerializeToString()[:-1]) == ["span 1", "span 2"]


def test_a_damaged_span_costs_itself_only() -> None:
    data = written(span(1), span(2), span(3))
    tag_of_name = b"\x2a\x06span 2"
    damaged = data.replace(tag_of_name, b"\x2a\x7fspan 2")

    batch = decode_traces(damaged)

    assert [found.name for found in batch.spans] == ["span 1", "span 3"]
    assert batch.rejected == 1
    assert [note.code for note in batch.notes] == ["damaged-record"]


def test_a_value_nested_deeper_than_a_hundred_levels_is_cut() -> None:
    value = b"\x0a\x06bottom"
    for _ in range(300):
        value = lengthened(b"\x2a", lengthened(b"\x0a", value))
    deep = lengthened(b"\x4a", b"\x0a\x04deep" + lengthened(b"\x12", value))
    flat = (
        trace_request([span(1, attributes={"flat": 1})]).resource_spans[0].scope_spans[0].spans[0].SerializeToString()
    )
    record = lengthened(b"\x12", flat + deep)
    data = lengthened(b"\x0a", lengthened(b"\x12", record))

    attributes = decode_traces(data).spans[0].attributes

    assert attributes["flat"] == 1
    level: object = attributes["deep"]
    for _ in range(100):
        assert isinstance(level, list)
        (level,) = level
    assert level is None
    assert [code for code, _ in notes(data)] == ["too-deep"]


def test_an_unknown_kind_is_unspecified_and_told() -> None:
    request = trace_request([span(1)])
    request.resource_spans[0].scope_spans[0].spans[0].kind = 77  # type: ignore[assignment]
    data = request.SerializeToString()

    assert decode_traces(data).spans[0].kind is SpanKind.UNSPECIFIED
    assert [code for code, _ in notes(data)] == ["bad-value"]


def test_spans_under_the_old_name_of_scopes_are_read() -> None:
    block = trace_request([span(1)]).resource_spans[0]
    part = block.scope_spans[0].SerializeToString()
    tag = b"\xc2\x3e"  # field 1000, length-delimited
    old = tag + bytes([len(part)]) + part

    assert names(b"\x0a" + bytes([len(old)]) + old) == ["span 1"]
