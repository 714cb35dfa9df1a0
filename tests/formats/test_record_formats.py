"""One run in every format gives the same spans, as far as the format can say it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_inputs import FORMATS
from sound_spans import faults_of

from critiqor_otel.formats.reading import read_bytes, read_path
from critiqor_otel.span import Attributes, Link, LogRecord, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

CASES = Path(__file__).parent / "cases"
TRACE = "60d4d22e3809f7806ac49d33dd8ba5b4"


def spans_of(path: Path) -> list[Span]:
    return [span for batch in read_path(path) for span in batch.spans]


def spans_in(document: Any) -> list[Span]:
    return [span for batch in read_bytes(json.dumps(document).encode(), place="here") for span in batch.spans]


def codes_in(document: Any) -> list[str]:
    return [note.code for batch in read_bytes(json.dumps(document).encode(), place="here") for note in batch.notes]


REFERENCE = spans_of(FORMATS / "otlp_json_spec.json")
EXACT = (
    "collector_file_exporter.jsonl",
    "collector_file_exporter_json_zstd.bin",
    "collector_file_exporter_proto.bin",
    "jaeger_api_v3.json",
    "json_lines_one_span_per_line.jsonl",
    "otlp_json_ints_as_numbers.json",
    "otlp_json_messagetojson_base64_enumnames.json",
    "otlp_json_old_instrumentationLibrarySpans.json",
    "otlp_json_snake_case_base64.json",
    "tempo_api_v1_batches.json",
)
MICROSECOND = 1_000


def whole_microseconds(time_ns: int) -> int:
    return time_ns // MICROSECOND * MICROSECOND


def in_microseconds(span: Span) -> Span:
    """Return the span as formats tell it that know microseconds, and of a scope only its name."""
    return msgspec.structs.replace(
        span,
        start_ns=whole_microseconds(span.start_ns),
        end_ns=whole_microseconds(span.end_ns),
        events=tuple(
            msgspec.structs.replace(event, time_ns=whole_microseconds(event.time_ns)) for event in span.events
        ),
        scope=Scope(span.scope.name),
        flags=0,
    )


def as_texts(attributes: Attributes) -> Attributes:
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in attributes.items()}


@pytest.mark.parametrize("name", EXACT)
def test_otlp_in_any_wrapping_gives_equal_spans(name: str) -> None:
    assert spans_of(FORMATS / name) == REFERENCE


def test_jaeger_gives_equal_spans_to_the_microsecond() -> None:
    assert spans_of(FORMATS / "jaeger_ui.json") == [in_microseconds(span) for span in REFERENCE]


def test_zipkin_gives_equal_spans_with_tags_as_text_and_the_name_of_the_service() -> None:
    service = Resource({"service.name": "support-agent"})
    expected = [
        msgspec.structs.replace(in_microseconds(span), attributes=as_texts(span.attributes), resource=service)
        for span in REFERENCE
    ]

    assert spans_of(FORMATS / "zipkin_v2.json") == expected


def test_every_sample_is_read_without_a_note() -> None:
    samples = sorted(path for path in FORMATS.iterdir() if path.name != "README.facts.json")

    assert len(samples) == 15
    assert [(path.name, batch.notes) for path in samples for batch in read_path(path) if batch.notes] == []


def test_phoenix_spans_keep_their_attributes_and_their_kind() -> None:
    spans = spans_of(FORMATS / "phoenix_rest_spans.json")
    model, tool = spans[0], next(span for span in spans if span.name == "search_docs")

    assert len(spans) == 11
    assert tool.attributes["openinference.span.kind"] == "TOOL"
    assert tool.attributes["input.value"] == "refund policy"
    assert tool.start_ns == 1796058413063588000
    assert model.attributes["llm.token_count.prompt"] == 120
    assert model.attributes["llm.input_messages.0.message.role"] == "system"


def test_nested_phoenix_attributes_are_spread_over_indexed_keys() -> None:
    document = {
        "name": "llm",
        "context": {"trace_id": TRACE, "span_id": "00000000000000aa"},
        "span_kind": "LLM",
        "attributes": {
            "llm": {"input_messages": [{"message": {"role": "user"}}], "model_name": "m", "list": ["a"]},
            "metadata": {"a": 1},
        },
    }

    (span,) = spans_in({"data": [document], "next_cursor": None})

    assert span.attributes == {
        "llm.input_messages.0.message.role": "user",
        "llm.model_name": "m",
        "llm.list": ["a"],
        "metadata": '{"a":1}',
        "openinference.span.kind": "LLM",
    }


def test_a_table_of_phoenix_gives_the_spans_of_its_rows() -> None:
    table = (
        "name,span_kind,parent_id,start_time,end_time,status_code,context.span_id,context.trace_id,events,"
        "attributes.llm.input_messages,attributes.llm.token_count.prompt,attributes.input.value\r\n"
        f"llm,LLM,,2026-11-30 17:06:53.034229+00:00,2026-11-30 17:06:54+00:00,OK,aa,{TRACE},"
        "\"[{'name': 'e', 'timestamp': '2026-11-30T17:06:53+00:00', 'attributes': {'a': 1}}]\","
        "\"[{'message.role': 'user', 'message.content': 'hi, \\nyou'}]\",120.0,\"{\"\"q\"\": 1}\"\r\n"
        f"root,AGENT,nan,2026-11-30 17:06:53+00:00,,UNSET,bb,{TRACE},[],nan,,\r\n"
    )

    first, second = [span for batch in read_bytes(table.encode(), place="here") for span in batch.spans]

    assert first.attributes == {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "hi, \nyou",
        "llm.token_count.prompt": 120,
        "input.value": '{"q": 1}',
        "openinference.span.kind": "LLM",
    }
    assert (first.start_ns, first.status) == (1796058413034229000, StatusCode.OK)
    assert first.events == (SpanEvent(1796058413000000000, "e", {"a": 1}),)
    assert (second.span_id, second.parent_span_id, second.end_ns) == ("00000000000000bb", None, 0)


def test_langfuse_observations_become_what_its_own_sdk_sends() -> None:
    spans = spans_of(FORMATS / "langfuse_api_observations.json")
    generation, tool = spans[0], spans[1]

    assert generation.parent_span_id == "4f9ab22e3b72a1c0"
    assert generation.attributes["langfuse.observation.type"] == "generation"
    assert generation.attributes["langfuse.observation.model.name"] == "gpt-4o-mini"
    assert json.loads(str(generation.attributes["langfuse.observation.usage_details"])) == {
        "input": 90,
        "output": 11,
        "total": 101,
    }
    assert generation.attributes["session.id"] == "sess-42"
    assert (tool.status, tool.status_message) == (
        StatusCode.ERROR,
        "upstream timeout for https://x.test/a (attempt 1)",
    )
    assert json.loads(str(tool.attributes["langfuse.observation.input"])) == {
        "args": [],
        "kwargs": {"url": "https://x.test/a"},
    }
    assert "langfuse.observation.usage_details" not in tool.attributes


def test_a_langfuse_trace_lends_its_name_and_session_to_its_observations() -> None:
    observations = [
        {"id": "obs-1", "type": "AGENT", "name": "root", "startTime": "2026-11-30T18:07:14Z", "input": "hi"},
        {"id": "obs-2", "type": "SPAN", "name": "step", "parentObservationId": "obs-1", "metadata": {"k": [1]}},
    ]
    document = {
        "id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "name": "support",
        "sessionId": "s1",
        "input": {"q": 1},
        "observations": observations,
    }

    root, step = spans_in(document)

    assert root.trace_id == step.trace_id == "3f2504e04f8911d39a0c0305e82c3301"
    assert step.parent_span_id == root.span_id
    assert root.attributes["langfuse.trace.name"] == step.attributes["langfuse.trace.name"] == "support"
    assert root.attributes["session.id"] == "s1"
    assert root.attributes["langfuse.trace.input"] == '{"q":1}'
    assert "langfuse.trace.input" not in step.attributes
    assert step.attributes["langfuse.observation.metadata.k"] == "[1]"


def test_what_langfuse_took_from_opentelemetry_goes_back_where_it_came_from() -> None:
    metadata = {
        "attributes": {"gen_ai.operation.name": "chat"},
        "resourceAttributes": {"service.name": "agent"},
        "scope": {"name": "lib", "version": "2"},
    }

    (span,) = spans_in([{"id": "a", "traceId": "b", "type": "GENERATION", "metadata": metadata}])

    assert span.attributes["gen_ai.operation.name"] == "chat"
    assert (span.resource, span.scope) == (Resource({"service.name": "agent"}), Scope("lib", "2"))


def test_a_download_of_jaeger_is_read_as_the_report_asks() -> None:
    root, chat, search = spans_of(CASES / "15-jaeger-ui-export.json")

    assert root.trace_id == "4bf92f3577b34da".rjust(32, "0")
    assert [span.span_id for span in (root, chat, search)] == [f"{id_:>016}" for id_ in ("1", "a2", "a3")]
    assert [span.parent_span_id for span in (root, chat, search)] == [None, root.span_id, root.span_id]
    assert search.links == (Link(root.trace_id, chat.span_id),)
    assert root.end_ns - root.start_ns == 9_000_001_000
    assert (root.kind, root.status) == (SpanKind.INTERNAL, StatusCode.OK)
    assert chat.attributes["gen_ai.usage.input_tokens"] == 1200
    assert chat.attributes["gen_ai.usage.output_tokens"] == 34
    assert chat.attributes["blob"] == b"\xde\xad\xbe\xef"
    assert (search.status, search.status_message) == (StatusCode.ERROR, "timeout")
    assert search.events == (SpanEvent(1760000002000000000, "exception", {"exception.type": "TimeoutError"}),)
    assert [span.resource.attributes["service.name"] for span in (root, search)] == ["demo-agent", "tools"]


def test_a_jaeger_span_from_elasticsearch_has_its_process_and_texts_for_values() -> None:
    document = {
        "traceID": TRACE,
        "spanID": "a",
        "operationName": "chat",
        "startTime": "1760000000000000",
        "duration": 5,
        "references": [{"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": "b"}],
        "tags": [
            {"key": "n", "type": "int64", "value": "12"},
            {"key": "f", "type": "float64", "value": "0.5"},
            {"key": "b", "type": "bool", "value": "true"},
            {"key": "bad", "type": "int64", "value": "x"},
        ],
        "process": {"serviceName": "agent", "tags": []},
    }

    (span,) = spans_in({"hits": {"hits": [{"_source": document}]}})

    assert span.attributes == {"n": 12, "f": 0.5, "b": True, "bad": "x"}
    assert span.parent_span_id == "000000000000000b"
    assert (span.start_ns, span.end_ns) == (1760000000000000000, 1760000000000005000)
    assert span.resource == Resource({"service.name": "agent"})
    assert codes_in(document) == ["bad-value"]


def test_zipkin_annotations_and_links_of_both_exporters_are_events_and_links() -> None:
    document = {
        "traceId": TRACE[:16],
        "id": "a",
        "kind": "SERVER",
        "timestamp": 1,
        "annotations": [
            {"timestamp": 2, "value": '"exception": {"exception.type": "E", "n": 1}'},
            {"timestamp": 3, "value": 'retry|{"attempt": 2}|0'},
            {"timestamp": 4, "value": "ws"},
        ],
        "tags": {
            "otlp.link.0": f"{TRACE}|00000000000000aa||{json.dumps({'a': 'b|c'})}|0",
            "error": "boom",
            "w3c.tracestate": "k=v",
            "otel.library.name": "lib",
        },
        "remoteEndpoint": {"serviceName": "db", "port": 5432},
    }

    (span,) = spans_in([[document]])

    assert (span.trace_id, span.kind, span.end_ns) == (f"{'0' * 16}{TRACE[:16]}", SpanKind.SERVER, 0)
    assert span.events == (
        SpanEvent(2000, "exception", {"exception.type": "E", "n": 1}),
        SpanEvent(3000, "retry", {"attempt": 2}),
        SpanEvent(4000, "ws", {}),
    )
    assert span.links == (Link(TRACE, "00000000000000aa", {"a": "b|c"}),)
    assert (span.status, span.status_message) == (StatusCode.ERROR, "boom")
    assert (span.trace_state, span.scope) == ("k=v", Scope("lib"))
    assert span.attributes == {"peer.service": "db", "net.peer.port": 5432}


CONSOLE = {
    "name": "child",
    "context": {"trace_id": f"0x{TRACE}", "span_id": "0x00000000000000aa", "trace_state": "[]"},
    "kind": "SpanKind.CLIENT",
    "parent_id": "0x00000000000000bb",
    "start_time": "2026-11-30T19:50:42.652969Z",
    "end_time": "2026-11-30T19:50:42.652997Z",
    "status": {"status_code": "ERROR", "description": "bad"},
    "attributes": {"a": [1, 2]},
    "events": [{"name": "e", "timestamp": "2026-11-30T19:50:42.652982Z", "attributes": {"k": True}}],
    "links": [{"context": {"trace_id": f"0x{TRACE}", "span_id": "0x00000000000000cc"}, "attributes": {"l": 1}}],
    "resource": {"attributes": {"service.name": "x"}, "schema_url": ""},
}
CONSOLE_SPAN = Span(
    trace_id=TRACE,
    span_id="00000000000000aa",
    parent_span_id="00000000000000bb",
    name="child",
    kind=SpanKind.CLIENT,
    start_ns=1796068242652969000,
    end_ns=1796068242652997000,
    attributes={"a": [1, 2]},
    status=StatusCode.ERROR,
    status_message="bad",
    events=(SpanEvent(1796068242652982000, "e", {"k": True}),),
    links=(Link(TRACE, "00000000000000cc", {"l": 1}),),
    resource=Resource({"service.name": "x"}),
)


def test_console_output_is_read_between_what_the_program_prints() -> None:
    printed = f"starting [1/2]\n{json.dumps(CONSOLE, indent=4)}\n[INFO] done\n{json.dumps(CONSOLE, indent=4)}\n"

    batches = list(read_bytes(printed.encode(), place="here"))

    assert [span for batch in batches for span in batch.spans] == [CONSOLE_SPAN, CONSOLE_SPAN]
    assert [note.place for batch in batches for note in batch.notes] == ["here:1", "here:50"]


def test_console_logs_are_log_records() -> None:
    printed = {
        "body": "hello",
        "severity_number": 9,
        "severity_text": "INFO",
        "attributes": {"a": 1},
        "timestamp": None,
        "observed_timestamp": "2026-11-30T19:50:42.652969Z",
        "trace_id": f"0x{TRACE}",
        "span_id": "0x0000000000000000",
        "resource": {"attributes": {}, "schema_url": ""},
        "event_name": "said",
    }

    (batch,) = read_bytes(json.dumps(printed, indent=4).encode(), place="here")

    assert batch.logs == (
        LogRecord(
            time_ns=1796068242652969000,
            name="said",
            trace_id=TRACE,
            body="hello",
            attributes={"a": 1},
            severity_number=9,
            severity_text="INFO",
        ),
    )


JAVASCRIPT = r"""{
  resource: { attributes: { 'service.name': 'node', args: [ 'a', "it's" ] } },
  instrumentationScope: { name: 'demo', version: undefined, schemaUrl: undefined },
  traceId: '60d4d22e3809f7806ac49d33dd8ba5b4',
  parentSpanContext: { traceId: '60d4d22e3809f7806ac49d33dd8ba5b4', spanId: '00000000000000bb', traceFlags: 1 },
  traceState: undefined,
  name: 'execute_tool search',
  id: '00000000000000aa',
  kind: 2,
  timestamp: 1684943523742000,
  duration: 1234.567,
  attributes: {
    arguments: '{"q": "a}b"}',
    long: 'aaaa' +
      'bbbb\n' +
      'cc',
    n: -1.5e3, t: true
  },
  status: { code: 2, message: 'boom' },
  events: [ { name: 'exception', attributes: [Object], time: [ 1684943523, 742000000 ], droppedAttributesCount: 0 } ],
  links: []
}
"""


def test_objects_that_node_prints_are_read() -> None:
    first, second = read_bytes((JAVASCRIPT * 2).encode(), place="here")

    assert first == second
    assert first.spans == (
        Span(
            trace_id=TRACE,
            span_id="00000000000000aa",
            parent_span_id="00000000000000bb",
            name="execute_tool search",
            kind=SpanKind.CLIENT,
            start_ns=1684943523742000000,
            end_ns=1684943523743234567,
            attributes={"arguments": '{"q": "a}b"}', "long": "aaaabbbb\ncc", "n": -1500.0, "t": True},
            status=StatusCode.ERROR,
            status_message="boom",
            events=(SpanEvent(1684943523742000000, "exception"),),
            resource=Resource({"service.name": "node", "args": ["a", "it's"]}),
            scope=Scope("demo"),
        ),
    )


def test_single_records_bring_their_resource_along_and_share_it() -> None:
    record = {
        "traceId": TRACE,
        "startTimeUnixNano": "1",
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "x"}}]},
        "scope": {"name": "lib"},
    }

    first, second = spans_in([{**record, "spanId": f"{number:016x}"} for number in (1, 2)])

    assert (first.resource, first.scope) == (Resource({"service.name": "x"}), Scope("lib"))
    assert first.resource is second.resource


def test_what_is_no_span_among_spans_is_told() -> None:
    zipkin = {"traceId": TRACE, "id": "a"}

    assert len(spans_in([zipkin, 5, {"what": 1}, zipkin])) == 2
    assert codes_in([zipkin, 5, {"what": 1}, zipkin]) == ["unknown-record"]


def test_a_number_that_otlp_cannot_hold_stays_as_text() -> None:
    (span,) = spans_in([{"traceId": TRACE, "id": "a", "tags": {"n": 2**70, "l": [2**70]}}])

    assert span.attributes == {"n": str(2**70), "l": f"[{2**70}]"}


def test_an_attribute_nested_deeper_than_a_hundred_levels_stays_as_text() -> None:
    value: Any = "bottom"
    for _ in range(150):
        value = [value]

    (span,) = spans_in([{"traceId": TRACE, "id": "a", "tags": {"deep": value}}])

    assert json.loads(str(span.attributes["deep"])) == value


@pytest.mark.parametrize("cell", ["[{'a'}]", "[{1: 'a'}]", "['\\ud800']", "[1j]", "[...", "{'a': b'x'}"])
def test_a_cell_of_a_table_that_spells_no_json_value_stays_text_or_becomes_one(cell: str) -> None:
    table = f'context.trace_id,context.span_id,attributes.llm.tools\n{TRACE},aa,"{cell}"\n'

    (batch,) = read_bytes(table.encode(), place="here")

    assert faults_of(batch) == []
    assert len(batch.spans) == 1


@pytest.mark.parametrize("time", ["9" * 5000, "9" * 30, 10**400, -5, 1e300, "yesterday"], ids="ABCDEF")
def test_a_time_that_no_clock_shows_is_zero_and_told(time: Any) -> None:
    document = {"context": {"trace_id": TRACE, "span_id": "aa"}, "span_kind": "LLM", "start_time": time}

    assert [span.start_ns for span in spans_in(document)] == [0]
    assert codes_in(document) == ["bad-value"]
