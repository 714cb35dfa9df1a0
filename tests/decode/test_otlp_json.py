"""Every spelling of OTLP/JSON that is legal or was seen, and what is wrong costs itself only."""

import json
import math
from typing import Any

import pytest

from critiqor_otel.decode.otlp_json import decode_logs, decode_traces
from critiqor_otel.errors import DecodeError
from critiqor_otel.span import Attributes, AttributeValue, Link, Scope, Span, SpanEvent, SpanKind, StatusCode

TRACE, SPAN_ID = "60d4d22e3809f7806ac49d33dd8ba5b4", "369403933064ebc8"
URL_SAFE_TRACE = "fffefdfbfdfcfbefffefdfbfdfcfbeff"
TRACE_64, SPAN_ID_64 = "YNTSLjgJ94BqxJ0z3YultA==", "NpQDkzBk68g="


def request(**fields: Any) -> dict[str, Any]:
    span = {"traceId": TRACE, "spanId": SPAN_ID, **fields}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def read(document: Any) -> list[Span]:
    return list(decode_traces(json.dumps(document).encode()).spans)


def codes(document: Any) -> list[str]:
    return [note.code for note in decode_traces(json.dumps(document).encode()).notes]


def with_value(value: Any) -> dict[str, Any]:
    return request(attributes=[{"key": "k", "value": value}, {"key": "after", "value": {"stringValue": "kept"}}])


def attributes_of(document: Any) -> Attributes:
    return read(document)[0].attributes


@pytest.mark.parametrize(
    ("trace_id", "span_id"),
    [
        (TRACE, SPAN_ID),
        (TRACE.upper(), SPAN_ID.upper()),
        (TRACE_64, SPAN_ID_64),
        (TRACE_64.rstrip("="), SPAN_ID_64.rstrip("=")),
        ("__79-_38--__79-_38--_w==", SPAN_ID_64),
    ],
    ids=["hex", "upper case", "base64", "without padding", "url-safe"],
)
def test_ids_of_every_spelling(trace_id: str, span_id: str) -> None:
    (span,) = read(request(traceId=trace_id, spanId=span_id, parentSpanId=span_id))

    assert span.trace_id == (URL_SAFE_TRACE if "_" in trace_id else TRACE)
    assert (span.span_id, span.parent_span_id) == (SPAN_ID, SPAN_ID)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("traceId", "0" * 32, "trace id all zero"),
        ("traceId", "", "trace id empty"),
        ("traceId", "abcd", "trace id of 4 characters"),
        ("traceId", None, "trace id missing"),
        ("traceId", 12, "trace id not text"),
        ("traceId", "x" * 32, "trace id of 32 characters"),
        ("traceId", "!" * 22 + "==", "trace id neither hex nor base64"),
        ("spanId", "0" * 16, "span id all zero"),
        ("spanId", "AAAAAAAAAAA=", "span id all zero"),
    ],
)
def test_a_span_with_an_invalid_id_is_left_out_and_told(field: str, value: object, reason: str) -> None:
    document = request(**{field: value})
    document["resourceSpans"][0]["scopeSpans"][0]["spans"].append({"traceId": TRACE, "spanId": SPAN_ID, "name": "good"})

    batch = decode_traces(json.dumps(document).encode(), place="here")

    assert [span.name for span in batch.spans] == ["good"]
    assert batch.rejected == 1
    assert [(note.code, note.message, note.place) for note in batch.notes] == [
        ("invalid-id", f"1 record left out, having no valid ids: {reason}", "here")
    ]


@pytest.mark.parametrize("parent", [None, "", "0" * 16])
def test_no_parent_is_no_parent_in_every_spelling(parent: str | None) -> None:
    document = request(parentSpanId=parent)

    assert read(document)[0].parent_span_id is None
    assert codes(document) == []


def test_an_invalid_parent_makes_a_root_and_is_told() -> None:
    document = request(parentSpanId="abc")

    assert read(document)[0].parent_span_id is None
    assert codes(document) == ["invalid-parent-id"]


VALUES: list[tuple[Any, AttributeValue]] = [
    ({"stringValue": "x"}, "x"),
    ({"intValue": "7"}, 7),
    ({"intValue": 7}, 7),
    ({"intValue": 7.0}, 7),
    ({"intValue": "9223372036854775807"}, 2**63 - 1),
    ({"intValue": "-9223372036854775808"}, -(2**63)),
    ({"intValue": 9007199254740993}, 2**53 + 1),
    ({"intValue": {"low": 1, "high": 0}}, 1),
    ({"intValue": {"low": -1, "high": -1}}, -1),
    ({"intValue": {"low": -1, "high": 0, "unsigned": False}}, 2**32 - 1),
    ({"doubleValue": "Infinity"}, math.inf),
    ({"doubleValue": "-Infinity"}, -math.inf),
    ({"doubleValue": "1.5"}, 1.5),
    ({"doubleValue": 3}, 3.0),
    ({"boolValue": True}, True),
    ({"boolValue": "false"}, False),
    ({"bytesValue": "3q2+7w=="}, b"\xde\xad\xbe\xef"),
    ({"bytesValue": "3q2-7w"}, b"\xde\xad\xbe\xef"),
    ({"bytesValue": ""}, b""),
    ({}, None),
    (None, None),
    ({"arrayValue": {}}, []),
    ({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "two"}, {}, None]}}, [1, "two", None, None]),
    ({"arrayValue": [{"intValue": "1"}]}, [1]),
    ({"kvlistValue": {}}, {}),
    ({"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": True}}, {"key": "b"}]}}, {"a": True, "b": None}),
    ({"string_value": "x"}, "x"),
    ({"int_value": "7"}, 7),
    ({"array_value": {"values": [{"kvlist_value": {"values": []}}]}}, [{}]),
    ({"stringValue": None, "intValue": "7"}, 7),
    ("untyped", "untyped"),
    (7, 7),
    (1.5, 1.5),
    (True, True),
    ([1, "two"], [1, "two"]),
    ({"some": {"object": 1}}, {"some": {"object": 1}}),
]


@pytest.mark.parametrize(("spelled", "meant"), VALUES, ids=[json.dumps(spelled) for spelled, _ in VALUES])
def test_values_of_every_spelling(spelled: Any, meant: AttributeValue) -> None:
    document = with_value(spelled)

    assert repr(attributes_of(document)) == repr({"k": meant, "after": "kept"})
    assert codes(document) == []


def test_not_a_number_is_read_in_every_spelling() -> None:
    for spelled in ('{"doubleValue":"NaN"}', '{"doubleValue":NaN}'):
        data = json.dumps(with_value("?")).replace('"?"', spelled).encode()

        value = decode_traces(data).spans[0].attributes["k"]

        assert isinstance(value, float)
        assert math.isnan(value)


@pytest.mark.parametrize(
    "spelled",
    [{"intValue": "seven"}, {"intValue": 1.5}, {"doubleValue": "x"}, {"bytesValue": "?"}, {"intValue": "9" * 5000}],
    ids=["word", "fraction", "no double", "no base64", "five thousand digits"],
)
def test_an_unreadable_value_costs_itself_only(spelled: Any) -> None:
    document = with_value(spelled)

    assert attributes_of(document) == {"after": "kept"}
    assert codes(document) == ["bad-value"]


def test_an_integer_beyond_64_bits_stays_text() -> None:
    assert attributes_of(with_value({"intValue": str(2**64)}))["k"] == str(2**64)


def test_of_a_doubled_key_the_last_counts() -> None:
    assert attributes_of(request(attributes=[{"key": "k", "value": {"intValue": n}} for n in (1, 2)])) == {"k": 2}
    data = json.dumps(request(name="first")).replace('"name": "first"', '"name": "first", "name": "last"').encode()
    assert decode_traces(data).spans[0].name == "last"


def test_attributes_as_a_map_are_read() -> None:
    assert attributes_of(request(attributes={"a": 1, "b": {"c": [1.5, None]}})) == {"a": 1, "b": {"c": [1.5, None]}}


@pytest.mark.parametrize(
    ("spelled", "kind"),
    [(3, SpanKind.CLIENT), ("SPAN_KIND_CLIENT", SpanKind.CLIENT), ("3", SpanKind.CLIENT), (None, SpanKind.UNSPECIFIED)],
    ids=["number", "name", "number as text", "none"],
)
def test_kinds_of_every_spelling(spelled: object, kind: SpanKind) -> None:
    assert read(request(kind=spelled))[0].kind is kind


@pytest.mark.parametrize("spelled", [{"code": 2}, {"code": "STATUS_CODE_ERROR"}, 2, "STATUS_CODE_ERROR"], ids=repr)
def test_statuses_of_every_spelling(spelled: object) -> None:
    assert read(request(status=spelled))[0].status is StatusCode.ERROR


def test_an_unknown_enum_is_unspecified_and_told() -> None:
    document = request(kind=77, status={"code": "STATUS_CODE_GREAT"})

    assert (read(document)[0].kind, read(document)[0].status) == (SpanKind.UNSPECIFIED, StatusCode.UNSET)
    assert codes(document) == ["bad-value"]


@pytest.mark.parametrize(
    "spelled",
    [
        1760000001000000001,
        "1760000001000000001",
        {"low": 273336833, "high": 409781933},
        [1760000001, 1],
        "2025-10-09T08:53:21.000000001Z",
    ],
    ids=["number", "text", "halves", "seconds and nanoseconds", "ISO-8601"],
)
def test_times_of_every_spelling(spelled: object) -> None:
    document = request(startTimeUnixNano=spelled)

    assert (read(document)[0].start_ns, codes(document)) == (1760000001000000001, [])


@pytest.mark.parametrize("spelled", ["yesterday", -1, "-5", 2**64, 1.5, True, {"low": 1}, [1]], ids=repr)
def test_a_time_that_is_none_is_zero_and_told(spelled: object) -> None:
    document = request(endTimeUnixNano=spelled)

    assert (read(document)[0].end_ns, codes(document)) == (0, ["bad-value"])


def test_old_names_of_scopes_are_read() -> None:
    block = {
        "instrumentationLibrarySpans": [
            {
                "instrumentationLibrary": {"name": "lib", "version": "1"},
                "spans": [{"traceId": TRACE, "spanId": SPAN_ID}],
            }
        ]
    }

    assert [span.scope for span in read({"resourceSpans": [block]})] == [Scope("lib", "1")]


def test_an_empty_list_under_the_old_name_does_not_hide_the_new_one() -> None:
    document = request()
    document["resourceSpans"][0]["instrumentationLibrarySpans"] = []

    assert len(read(document)) == 1


def test_nulls_are_absent() -> None:
    nothing = dict.fromkeys(("name", "kind", "attributes", "status", "events", "links", "parentSpanId", "flags"))

    assert read(request(**nothing)) == read(request())
    assert codes(request(**nothing)) == []


def test_events_and_links_are_read() -> None:
    document = request(
        events=[{"timeUnixNano": "5", "name": "exception", "attributes": [{"key": "a", "value": {"intValue": "1"}}]}],
        links=[{"traceId": TRACE_64, "spanId": SPAN_ID}, {"traceId": "", "spanId": SPAN_ID}],
    )

    (span,) = read(document)

    assert span.events == (SpanEvent(5, "exception", {"a": 1}),)
    assert span.links == (Link(TRACE, SPAN_ID),)
    assert codes(document) == ["invalid-link"]


@pytest.mark.parametrize(
    "document",
    [
        {"resourceSpans": {}},
        {"resourceSpans": [[], 1, None, "x"]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [1, {"traceId": TRACE, "spanId": SPAN_ID, "attributes": 3}]}]}]},
        {"resourceSpans": [{"resource": [], "scopeSpans": 5}]},
    ],
)
def test_what_stands_in_the_wrong_place_is_told(document: Any) -> None:
    assert set(codes(document)) == {"bad-value"}


def test_half_a_surrogate_pair_is_mended_and_whole_pairs_are_kept() -> None:
    data = json.dumps(
        request(name="a\ud83e b", attributes=[{"key": "k\udc00", "value": {"stringValue": "😀"}}])
    ).encode()

    batch = decode_traces(data)

    assert (batch.spans[0].name, batch.spans[0].attributes) == ("a\ufffd b", {"k\ufffd": "😀"})
    assert [note.code for note in batch.notes] == ["invalid-text"]


def test_bytes_that_are_no_utf8_are_mended() -> None:
    batch = decode_traces(json.dumps(request(name="?")).encode().replace(b'"?"', b'"a\xff"'))

    assert batch.spans[0].name == "a\ufffd"
    assert [note.code for note in batch.notes] == ["invalid-text"]


@pytest.mark.parametrize("depth", [101, 150, 20_000])
def test_a_value_nested_too_deep_is_cut(depth: int) -> None:
    opening, closing = '{"arrayValue":{"values":[', "]}}"
    value = opening * depth + '{"stringValue":"bottom"}' + closing * depth
    data = json.dumps(with_value("?")).replace('"?"', value).encode()

    batch = decode_traces(data)

    assert batch.spans[0].attributes["after"] == "kept"
    assert "too-deep" in [note.code for note in batch.notes]


@pytest.mark.parametrize("data", [b"", b"hello", b"[]", b'"x"', b"5", b'{"resourceSpans":[', b"\xff\xfe"])
def test_bytes_that_are_no_request_are_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_traces(data)


def test_an_empty_request_is_one() -> None:
    assert decode_traces(b"{}").spans == ()
    assert decode_logs(b"{}").logs == ()


def test_log_records_name_their_event_by_field_or_attribute() -> None:
    records = [
        {"timeUnixNano": "1", "eventName": "by field"},
        {"observedTimeUnixNano": 2, "attributes": [{"key": "event.name", "value": {"stringValue": "by attribute"}}]},
        {"traceId": "0" * 32, "spanId": "", "severityNumber": "SEVERITY_NUMBER_WARN2", "body": {"stringValue": "b"}},
    ]
    data = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()

    logs = decode_logs(data).logs

    assert [log.name for log in logs] == ["by field", "by attribute", ""]
    assert [log.time_ns for log in logs] == [1, 2, 0]
    assert (logs[2].trace_id, logs[2].span_id, logs[2].severity_number, logs[2].body) == (None, None, 14, "b")
