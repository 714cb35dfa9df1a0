"""Stores that know fewer types than OTLP: what comes out of them is still the same session."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from drawn_sessions import SESSIONS
from hypothesis import given, settings
from trips import came_back, without_spans

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.emit.session_spans import spans_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.span import Span, StatusCode

CASES = sorted((Path(__file__).parents[1] / "cases" / "critiqor-v1").glob("*.session.json"))[::6]


def jaeger(spans: Iterable[Span]) -> bytes:
    """Return the file that Jaeger's UI exports: microseconds, typed tags, lists as JSON text."""
    found = list(spans)
    processes = {"p1": {"serviceName": "agent", "tags": _tags(dict(found[0].resource.attributes))}}
    trace = {"traceID": found[0].trace_id, "spans": [_jaeger_span(span) for span in found], "processes": processes}
    return json.dumps({"data": [trace], "total": 0, "limit": 0, "offset": 0, "errors": None}).encode()


def _jaeger_span(span: Span) -> dict[str, Any]:
    tags = {**span.attributes, "span.kind": span.kind.name.lower()}
    if span.status is StatusCode.ERROR:
        tags |= {"error": True, "otel.status_code": "ERROR", "otel.status_description": span.status_message}
    above = {"refType": "CHILD_OF", "traceID": span.trace_id, "spanID": span.parent_span_id}
    return {
        "traceID": span.trace_id,
        "spanID": span.span_id,
        "operationName": span.name,
        "references": [above] if span.parent_span_id else [],
        "startTime": span.start_ns // 1000,
        "duration": (span.end_ns - span.start_ns) // 1000,
        "tags": _tags(tags),
        "logs": [
            {"timestamp": event.time_ns // 1000, "fields": _tags({"event": event.name, **event.attributes})}
            for event in span.events
        ],
        "processID": "p1",
        "warnings": None,
    }


def _tags(held: dict[str, Any]) -> list[dict[str, Any]]:
    return [_tag(key, value) for key, value in held.items()]


def _tag(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"key": key, "type": "bool", "value": value}
    if isinstance(value, int):
        return {"key": key, "type": "int64", "value": value}
    if isinstance(value, float):
        return {"key": key, "type": "float64", "value": value}
    return {"key": key, "type": "string", "value": value if isinstance(value, str) else json.dumps(value)}


def all_texts(spans: Iterable[Span]) -> bytes:
    """Return the same from a store that keeps every tag as text (Elasticsearch behind Jaeger)."""
    document = json.loads(jaeger(spans))
    for span in document["data"][0]["spans"]:
        for tag in (*span["tags"], *(tag for log in span["logs"] for tag in log["fields"])):
            value = tag["value"]
            tag |= {"type": "string", "value": value if isinstance(value, str) else json.dumps(value)}
    return json.dumps(document).encode()


Store = Callable[[Iterable[Span]], bytes]
every_store = pytest.mark.parametrize("store", [jaeger, all_texts], ids=lambda store: store.__name__)


def through(store: Store, session: Session, folder: Path) -> Session:
    path = folder / "trace.json"
    path.write_bytes(store(spans_of(session)))
    return came_back([span for batch in read_paths([str(path)]) for span in batch.spans])


@every_store
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem.removesuffix(".session"))
def test_a_recorded_session_comes_back_from_a_store(store: Store, path: Path, tmp_path: Path) -> None:
    session = read_session(path.read_bytes())

    assert without_spans(through(store, session, tmp_path)) == without_spans(session)


@every_store
@settings(max_examples=40)
@given(session=SESSIONS)
def test_any_session_comes_back_from_a_store(
    store: Store, session: Session, tmp_path_factory: pytest.TempPathFactory
) -> None:
    back = through(store, session, tmp_path_factory.mktemp("store"))

    assert without_spans(back) == without_spans(session)
