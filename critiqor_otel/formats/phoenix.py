"""Spans as Phoenix hands them out: its REST API, and the rows of its data frame (`context.trace_id`, `attributes.…`).

Attributes keep their OpenInference names; maps and lists that the data frame folds are spread over indexed keys again,
as instrumentations write them. The column `span_kind` becomes `openinference.span.kind`.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from analyzer.pattern import pattern
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError
from critiqor_otel.formats.foreign_ids import optional_padded_id, padded_id
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.plain_values import plain_text, plain_time, plain_value, value_as_text
from critiqor_otel.span import Attributes, Span, SpanEvent, StatusCode

__all__ = ["PHOENIX", "PHOENIX_ROW"]

_CODES = {code.name: code for code in StatusCode}
_KIND = "openinference.span.kind"
_COLUMN = "attributes."
_SPREAD_DEPTH = 12  # llm.output_messages.0.message.tool_calls.0.tool_call.function.name is 9 levels

# Attributes whose value is JSON text in OpenInference, and an object in Phoenix.
_JSON_TEXTS = ("metadata", "llm.prompt_template.variables", "llm.invocation_parameters", "tool.parameters")
_JSON_ENDINGS = (".metadata", ".json_schema", ".arguments")
# Columns that hold lists of maps, which a CSV file writes as Python or JSON.
_FOLDED = pattern(r"llm\.(input_messages|output_messages|tools)|.*documents|embedding\.embeddings|metadata")
_NUMERIC = pattern(r".*token_count.*|.*\.score|llm\.cost.*")
_NAN = {"doubleValue": "NaN"}
_NOTHING = ("", "nan", "NaN", "None", "NaT", "null")


def _is_span(document: Mapping[str, Any]) -> bool:
    context = document.get("context")
    return is_object(context) and "trace_id" in context and "span_id" in context


def _is_row(document: Mapping[str, Any]) -> bool:
    return "context.trace_id" in document and "context.span_id" in document


def _read_spans(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    return Found(spans=list(_spans(documents, findings)))


def _read_rows(documents: Sequence[dict[str, Any]], findings: Findings) -> Found:
    return Found(spans=list(_spans([_unfold(document) for document in documents], findings)))


def _spans(documents: Sequence[dict[str, Any]], findings: Findings) -> Iterator[Span]:
    for document in documents:
        try:
            yield _span(document, findings)
        except BadIdError as error:
            findings.add(Finding.INVALID_ID, str(error))


def _span(raw: dict[str, Any], findings: Findings) -> Span:
    context = raw["context"]
    trace_id, span_id = padded_id(context.get("trace_id"), TRACE_ID), padded_id(context.get("span_id"), SPAN_ID)
    attributes = _attributes(raw.get("attributes"), findings)
    kind = raw.get("span_kind")
    if isinstance(kind, str) and kind and _KIND not in attributes:
        attributes[_KIND] = kind
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=_parent(raw.get("parent_id"), findings),
        name=plain_text(raw.get("name")),
        start_ns=plain_time(raw.get("start_time"), findings),
        end_ns=plain_time(raw.get("end_time"), findings),
        attributes=attributes,
        status=_CODES.get(plain_text(raw.get("status_code")), StatusCode.UNSET),
        status_message=plain_text(raw.get("status_message")),
        events=tuple(_events(raw.get("events"), findings)),
    )


def _parent(value: Any, findings: Findings) -> str | None:
    try:
        return optional_padded_id(value, SPAN_ID)
    except BadIdError as error:
        findings.add(Finding.INVALID_PARENT, str(error))
        return None


def _events(events: Any, findings: Findings) -> Iterator[SpanEvent]:
    for event in events if is_list(events) else ():
        if not is_object(event):
            findings.add(Finding.BAD_VALUE, "an event that is no object")
            continue
        time_ns = plain_time(event.get("timestamp"), findings)
        yield SpanEvent(time_ns, plain_text(event.get("name")), _attributes(event.get("attributes"), findings))


def _attributes(told: Any, findings: Findings) -> Attributes:
    if told is None:
        return {}
    if not is_object(told):
        findings.add(Finding.BAD_VALUE, "attributes that are no object")
        return {}
    attributes: Attributes = {}
    for key, value in told.items():
        _spread(key, value, attributes, 0)
    return attributes


def _spread(key: str, value: Any, attributes: Attributes, depth: int) -> None:
    """Write a value under indexed keys, as far down as maps go; lists of plain values stay lists."""
    is_text = key in _JSON_TEXTS or key.endswith(_JSON_ENDINGS)
    is_folded = is_object(value) or (is_list(value) and any(is_object(item) for item in value))
    if is_text and (is_object(value) or is_list(value)):
        attributes[key] = value_as_text(value)
    elif not is_folded or not value or depth >= _SPREAD_DEPTH:
        attributes[key] = plain_value(value)
    else:
        pairs = value.items() if is_object(value) else enumerate(value)
        for name, item in pairs:
            _spread(f"{key}.{name}", item, attributes, depth + 1)


def _unfold(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the data frame in the layout of the API."""
    held = {key: value for key, value in row.items() if not _is_nothing(value)}
    attributes = {name: _cell(name, value) for key, value in held.items() if (name := key.removeprefix(_COLUMN)) != key}
    context = {"trace_id": held.get("context.trace_id"), "span_id": held.get("context.span_id")}
    events = held.get("events")
    return {
        **{key: value for key, value in held.items() if not key.startswith(_COLUMN)},
        "context": context,
        "attributes": attributes,
        "events": _literal(events) if isinstance(events, str) else events,
    }


def _is_nothing(value: Any) -> bool:
    return value is None or value == _NAN or value in _NOTHING


def _cell(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if _NUMERIC.fullmatch(name):
        return _number(value)
    return _literal(value) if _FOLDED.fullmatch(name) else value


def _number(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _literal(text: str) -> Any:
    """Return the list or map that JSON or Python text spells, or the text itself."""
    if not text.startswith(("[", "{")):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        # Through JSON, since Python text may spell sets, numbered keys and halves of characters.
        return msgspec.json.decode(msgspec.json.encode(ast.literal_eval(text)))
    except (msgspec.MsgspecError, ValueError, TypeError, SyntaxError, OverflowError, RecursionError, MemoryError):
        return text


PHOENIX = RecordFormat(
    name="Phoenix spans",
    source="https://arize.com/docs/phoenix/sdk-api-reference/rest-api/api-reference/spans",
    recognise=_is_span,
    read=_read_spans,
)
PHOENIX_ROW = RecordFormat(
    name="rows of Phoenix's data frame",
    source="https://arize.com/docs/phoenix/tracing/how-to-tracing/importing-and-exporting-traces/extract-data-from-spans",
    recognise=_is_row,
    read=_read_rows,
)
