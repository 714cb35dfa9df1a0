"""A small input of every format, and how to spoil it: for tests that read thousands of them."""

import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard
from written_otlp import library_json, log_request, standard_json, trace_request

from critiqor_otel.span import Link, LogRecord, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["FORMATS", "SMALL", "misfitted", "mutated"]

FORMATS = Path(__file__).parents[1] / "cases" / "captures" / "_formats"
TRACE = "60d4d22e3809f7806ac49d33dd8ba5b4"
SPANS = [
    Span(
        trace_id=TRACE,
        span_id=f"{number:016x}",
        parent_span_id=None if number == 1 else f"{1:016x}",
        name=f"execute_tool {number}",
        kind=SpanKind.CLIENT,
        start_ns=1_760_000_000_000_000_000,
        end_ns=1_760_000_000_500_000_000,
        attributes={"gen_ai.tool.name": "search", "n": number, "f": 0.5, "l": ["a", {"b": None}], "raw": b"\xde\xad"},
        status=StatusCode.ERROR,
        status_message="timeout",
        events=(SpanEvent(1_760_000_000_100_000_000, "exception", {"exception.type": "TimeoutError"}),),
        links=(Link(TRACE, "00000000000000aa", {"why": "retry"}),),
        resource=Resource({"service.name": "agent"}),
        scope=Scope("tracer", "1"),
    )
    for number in (1, 2)
]
LOGS = [LogRecord(time_ns=5, name="event", trace_id=TRACE, span_id=f"{1:016x}", body={"a": [1]}, severity_number=9)]


def _few(name: str, *, places: int = 2) -> Any:
    """Return a captured file's JSON with the first items of its longest list and the first letters of its texts."""
    return _short(json.loads((FORMATS / name).read_text()), places)


def _short(value: Any, places: int) -> Any:
    if isinstance(value, list):
        return [_short(item, places) for item in value[:places]]
    if isinstance(value, dict):
        return {key: _short(item, places) for key, item in list(value.items())[:24]}
    return value[:40] if isinstance(value, str) else value


def _text(value: Any, **layout: Any) -> bytes:
    return json.dumps(value, **layout).encode()


def _framed(*messages: bytes) -> bytes:
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def _inputs() -> dict[str, bytes]:
    request, logs = trace_request(SPANS), log_request(LOGS)
    protobuf, spec = request.SerializeToString(), standard_json(request)
    lines = b"\n".join((spec, standard_json(logs), b'{"resourceMetrics":[]}', spec, b""))
    console = {
        "name": "a",
        "context": {"trace_id": f"0x{TRACE}", "span_id": "0x00000000000000aa", "trace_state": "[]"},
        "kind": "SpanKind.CLIENT",
        "parent_id": None,
        "start_time": "2026-11-30T19:50:42.652969Z",
        "end_time": "2026-11-30T19:50:42.652997Z",
        "status": {"status_code": "ERROR", "description": "bad"},
        "attributes": {"a": [1]},
        "events": [{"name": "e", "timestamp": "2026-11-30T19:50:42.652982Z", "attributes": {"k": True}}],
        "links": [],
        "resource": {"attributes": {"service.name": "x"}, "schema_url": ""},
    }
    javascript = b"""{
  resource: { attributes: { 'service.name': 'node' } },
  traceId: 'f1b2c3d4e5f60718293a4b5c6d7e8f90',
  traceState: undefined,
  name: 'execute_tool search',
  id: '5fb397be34d26b51',
  kind: 2,
  timestamp: 1684943523742000,
  duration: 1234.5,
  attributes: { long: 'aaaaaaa' +
      'b\\n', n: -1.5e3, q: `it's "x"`, o: [Object] },
  status: { code: 2, message: 'boom' },
  events: [ { name: 'e', attributes: {}, time: [ 1684943523, 742000000 ] } ],
  links: []
}
"""
    session = {
        "schema_version": "critiqor.session.v1",
        "run_id": "run_1",
        "events": [{"event": "tool_call", "tool": "read", "timestamp": "2025-06-01T12:00:00Z", "args": {"p": 1}}] * 2,
    }
    table = (
        "context.trace_id,context.span_id,name,start_time,attributes.llm.input_messages,attributes.llm.token_count.prompt\n"
        f"{TRACE},00000000000000aa,ChatOpenAI,2026-11-30 17:06:53+00:00,"
        "\"[{'message.role': 'user', 'message.content': 'hi'}]\",120.0\n"
    )
    return {
        "OTLP JSON": spec,
        "OTLP JSON lines": lines,
        "OTLP JSON, indented": _text(json.loads(spec), indent=1) + b"\n" + _text(json.loads(spec), indent=1),
        "OTLP JSON, concatenated": spec * 2,
        "OTLP JSON of protobuf libraries": library_json(request),
        "OTLP protobuf": protobuf * 2,
        "OTLP logs in protobuf": logs.SerializeToString(),
        "length-prefixed protobuf": _framed(protobuf, logs.SerializeToString()),
        "length-prefixed zstd": _framed(zstandard.compress(spec), zstandard.compress(protobuf)),
        "gzip": gzip.compress(lines, mtime=0) + gzip.compress(spec, mtime=0),
        "zstd": zstandard.compress(lines) + zstandard.compress(spec),
        "Jaeger": _text(_few("jaeger_ui.json")),
        "Jaeger API 3": _text(_few("jaeger_api_v3.json")),
        "Zipkin": _text(_few("zipkin_v2.json")),
        "Tempo": _text(_few("tempo_api_v1_batches.json")),
        "Phoenix": _text(_few("phoenix_rest_spans.json")),
        "Phoenix table": table.encode(),
        "Langfuse": _text(_few("langfuse_api_observations.json")),
        "one span a line": b"\n".join(
            _text(_short(json.loads(line), 2))
            for line in (FORMATS / "json_lines_one_span_per_line.jsonl").read_bytes().splitlines()[:2]
        ),
        "console": _text(console, indent=4) + b"\n" + _text(console, indent=4),
        "console of JavaScript": javascript,
        "session": _text(session, indent=1),
    }


SMALL = _inputs()


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with one to six changes of the kinds that files suffer."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        chance.choice(_CHANGES)(changed, chance)
    return bytes(changed)


def misfitted(data: bytes, chance: random.Random) -> bytes:
    """Return a JSON document with one to four values replaced by what does not belong there; other bytes `mutated`."""
    try:
        document = json.loads(data)
    except ValueError:
        return mutated(data, chance)
    for _ in range(chance.randint(1, 4)):
        container, place = chance.choice(_places(document))
        container[place] = copy.deepcopy(chance.choice(_MISFITS))
    return json.dumps(document).encode()


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Return every place of a value inside a document: what holds it, and its key or index."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        container = waiting.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for place, item in list(items):
            found.append((container, place))
            if isinstance(item, list | dict) and item:
                waiting.append(item)
    return found


def _place(data: bytearray, chance: random.Random) -> int:
    return chance.randrange(len(data)) if data else 0


def _flip(data: bytearray, chance: random.Random) -> None:
    if data:
        data[_place(data, chance)] ^= 1 << chance.randrange(8)


def _overwrite(data: bytearray, chance: random.Random) -> None:
    at = _place(data, chance)
    data[at : at + chance.randint(1, 8)] = chance.randbytes(chance.randint(0, 8))


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[_place(data, chance) :]


def _drop(data: bytearray, chance: random.Random) -> None:
    at = _place(data, chance)
    del data[at : at + chance.randint(1, 40)]


def _repeat(data: bytearray, chance: random.Random) -> None:
    at = _place(data, chance)
    data[at:at] = data[at : at + chance.randint(1, 60)] * chance.choice((1, 2, 30))


def _insert(data: bytearray, chance: random.Random) -> None:
    at = _place(data, chance)
    data[at:at] = chance.choice(_DIRT)


_MISFITS: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        7,
        1.5,
        1e308,
        2**63,
        2**70,
        -(2**63) - 1,
        float("nan"),
        "",
        "0",
        "x",
        "\ud800",
        "9" * 30,
    ),
    *([], {}, [[]], [None], [{}], [1, "a"], {"a": 1}, {"low": 1, "high": -1}, {"stringValue": 5}, {"": None}, [[[[]]]]),
    *("SPAN_KIND_CLIENT", "2026-11-30T19:50:42Z", "0x00", "[]", "{}", "undefined", "A" * 22 + "==", "00000000000000aa"),
)
_DIRT = (
    *(b"\0" * 8, b"\xef\xbb\xbf", b"\r\n", b"\n", b"\xff", b"\\", b'"', b"{", b"}", b"[", b"]", b",", b":"),
    *(b"null", b"NaN", b"-1", b"1e999", b"9" * 5000, b'"\\ud800"', b"[" * 3000, b'{"a":' * 3000, b"\x1f\x8b", b"\x0a"),
    *(b'{"resourceSpans":[]}', b"\x28\xb5\x2f\xfd", b"true", b"{}", b"[]", b'""'),
)
_CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (_flip, _overwrite, _cut, _drop, _repeat, _insert)
