"""Forms of OTLP/JSON become spans and log records; a value that can't be read costs itself only."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError
from critiqor_otel.decode.json_attributes import read_attributes, read_value
from critiqor_otel.decode.json_ids import JsonIds
from critiqor_otel.decode.json_scalars import KINDS, STATUS_CODES, as_count, as_enum, as_severity, as_time
from critiqor_otel.decode.otlp_json_forms import (
    EventForm,
    LinkForm,
    LogForm,
    RequestForm,
    ResourceForm,
    ScopeForm,
    SpanForm,
    StatusForm,
)
from critiqor_otel.span import Link, LogRecord, Resource, Scope, Span, SpanEvent, SpanKind, StatusCode

__all__ = ["FormReader"]

_NO_RESOURCE, _NO_SCOPE, _NO_STATUS = Resource(), Scope(), StatusForm()
_EVENT_NAME = "event.name"  # where a log record's event was named before OTLP had a field for it
_MOST_KEPT, _LONGEST_KEPT = 256, 1 << 12
_RESOURCES: dict[str, Resource] = {}
_SCOPES: dict[str, Scope] = {}
_Form = TypeVar("_Form", SpanForm, LogForm)
_Record = TypeVar("_Record", Span, LogRecord)
_Thing = TypeVar("_Thing", Resource, Scope)


class FormReader:
    """Reads the forms of one request."""

    def __init__(self, findings: Findings) -> None:
        """Tell what is wrong to the findings."""
        self._findings = findings
        self._ids = JsonIds(findings)

    def spans(self, request: RequestForm) -> list[Span]:
        """Return the spans; those of one block share their resource and scope."""
        spans: list[Span] = []
        for block in request.resource_spans or ():
            resource = self.resource(block.resource, block.schema_url)
            for part in block.scope_spans or ():
                spans += self._each(self.span, part.spans, resource, self.scope(part.scope, part.schema_url))
        return spans

    def logs(self, request: RequestForm) -> list[LogRecord]:
        """Return the log records; those of one block share their resource and scope."""
        logs: list[LogRecord] = []
        for block in request.resource_logs or ():
            resource = self.resource(block.resource, block.schema_url)
            for part in block.scope_logs or ():
                logs += self._each(self.log, part.log_records, resource, self.scope(part.scope, part.schema_url))
        return logs

    def resource(self, form: ResourceForm | None, schema_url: str | None = None) -> Resource:
        """Return the resource."""
        if form is None:
            return Resource(schema_url=schema_url) if schema_url else _NO_RESOURCE
        return _kept(_RESOURCES, Resource(read_attributes(form.attributes, self._findings), schema_url or ""))

    def scope(self, form: ScopeForm | None, schema_url: str | None = None) -> Scope:
        """Return the scope."""
        if form is None:
            return Scope(schema_url=schema_url) if schema_url else _NO_SCOPE
        held = read_attributes(form.attributes, self._findings)
        return _kept(_SCOPES, Scope(form.name or "", form.version or "", held, schema_url or ""))

    def span(self, form: SpanForm, resource: Resource, scope: Scope) -> Span:
        """Return the span.

        Raises:
            BadIdError: an id of its own is none.
        """
        ids, findings = self._ids, self._findings
        trace_id, span_id = ids.trace_id(form.trace_id), ids.span_id(form.span_id)
        status = form.status or _NO_STATUS
        code = status.code
        return Span(
            trace_id=trace_id,
            span_id=span_id,
            parent_span_id=ids.parent(form.parent_span_id),
            name=form.name or "",
            kind=as_enum(form.kind, KINDS, findings, absent=SpanKind.UNSPECIFIED),
            start_ns=as_time(form.start_time_unix_nano, findings),
            end_ns=as_time(form.end_time_unix_nano, findings),
            attributes=read_attributes(form.attributes, self._findings),
            status=as_enum(code, STATUS_CODES, findings, absent=StatusCode.UNSET) if code else StatusCode.UNSET,
            status_message=status.message or "",
            events=tuple([self._event(event) for event in form.events]) if form.events else (),
            links=self._links(form.links) if form.links else (),
            trace_state=form.trace_state or "",
            flags=as_count(form.flags, findings) if form.flags else 0,
            dropped_attributes=self._count(form.dropped_attributes_count),
            dropped_events=self._count(form.dropped_events_count),
            dropped_links=self._count(form.dropped_links_count),
            resource=resource,
            scope=scope,
        )

    def log(self, form: LogForm, resource: Resource, scope: Scope) -> LogRecord:
        """Return the log record."""
        findings = self._findings
        held = read_attributes(form.attributes, self._findings)
        named = held.get(_EVENT_NAME)
        time_ns = as_time(form.time_unix_nano, findings) or as_time(form.observed_time_unix_nano, findings)
        return LogRecord(
            time_ns=time_ns,
            name=form.event_name or (named if isinstance(named, str) else ""),
            trace_id=self._ids.reference(form.trace_id, TRACE_ID),
            span_id=self._ids.reference(form.span_id, SPAN_ID),
            body=read_value(form.body, findings),
            attributes=held,
            severity_number=as_severity(form.severity_number, findings),
            severity_text=form.severity_text or "",
            resource=resource,
            scope=scope,
        )

    def _each(
        self,
        read: Callable[[_Form, Resource, Scope], _Record],
        forms: Iterable[_Form] | None,
        resource: Resource,
        scope: Scope,
    ) -> list[_Record]:
        records: list[_Record] = []
        for form in forms or ():
            try:
                records.append(read(form, resource, scope))
            except BadIdError as error:
                self._findings.add(Finding.INVALID_ID, str(error))
        return records

    def _event(self, form: EventForm) -> SpanEvent:
        time_ns = as_time(form.time_unix_nano, self._findings)
        attributes = read_attributes(form.attributes, self._findings)
        return SpanEvent(time_ns, form.name or "", attributes, self._count(form.dropped_attributes_count))

    def _links(self, forms: Iterable[LinkForm]) -> tuple[Link, ...]:
        links: list[Link] = []
        for form in forms:
            try:
                trace_id, span_id = self._ids.trace_id(form.trace_id), self._ids.span_id(form.span_id)
            except BadIdError as error:
                self._findings.add(Finding.INVALID_LINK, str(error))
                continue
            links.append(
                Link(
                    trace_id,
                    span_id,
                    read_attributes(form.attributes, self._findings),
                    trace_state=form.trace_state or "",
                    flags=self._count(form.flags),
                    dropped_attributes=self._count(form.dropped_attributes_count),
                )
            )
        return tuple(links)

    def _count(self, given: Any) -> int:
        return as_count(given, self._findings) if given else 0


def _kept(known: dict[str, _Thing], thing: _Thing) -> _Thing:
    """Return one object for all requests that begin with the same: what is written the same, where that is short."""
    if sum(_length(getattr(thing, name)) for name in thing.__struct_fields__) > _LONGEST_KEPT:
        return thing
    told = repr(thing)
    if len(known) >= _MOST_KEPT:
        known.clear()
    return known.setdefault(told, thing)


def _length(value: Any) -> int:
    """Return about how many signs it takes to write a value of attributes."""
    if isinstance(value, str | bytes):
        return len(value)
    if is_object(value):
        return sum(len(key) + _length(inner) for key, inner in value.items())
    return 1 + sum(map(_length, value)) if is_list(value) else 1
