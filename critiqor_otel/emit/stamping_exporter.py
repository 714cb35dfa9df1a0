"""Any exporter, with our stamps: around a stock exporter it sends what that one alone would lack.

A processor can write on a span while it runs, never after its end: next to a stock exporter alone, spans have the run
and their place in it, and lack the kind of event, the fingerprints and the scrubbing.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Link, Status
from typing_extensions import override

from critiqor_otel.conventions.carriage import CARRIED
from critiqor_otel.emit.export_rules import ExportRules, outgoing_attributes
from critiqor_otel.emit.redaction import Redaction

__all__ = ["StampingExporter"]

_DEFAULTS = ExportRules(fingerprints=True)


class StampingExporter(SpanExporter):
    """Hands stamped and scrubbed copies of spans to another exporter."""

    def __init__(self, inner: SpanExporter, rules: ExportRules = _DEFAULTS) -> None:
        """Take the exporter to send by, and the rules."""
        self._inner = inner
        self._rules = rules
        self._stamps = rules.stamps()
        self._resources: dict[int, tuple[Resource, Resource]] = {}

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._inner.export(list(self._copies(spans)))

    @override
    def shutdown(self) -> None:
        self._inner.shutdown()

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)

    def _copies(self, spans: Sequence[ReadableSpan]) -> Iterator[ReadableSpan]:
        redaction = self._rules.redaction
        for span in spans:
            held, more = outgoing_attributes(self._stamps, span)
            yield ReadableSpan(
                name=span.name if redaction is None else redaction.text(span.name),
                context=span.get_span_context(),
                parent=span.parent,
                resource=span.resource if redaction is None else self._resource(span.resource, redaction),
                attributes={**(held if redaction is None else redaction.spared(held, CARRIED)), **more},
                events=span.events if redaction is None else [_event(one, redaction) for one in span.events],
                links=span.links if redaction is None else [_link(one, redaction) for one in span.links],
                kind=span.kind,
                status=span.status if redaction is None else _status(span.status, redaction),
                start_time=span.start_time,
                end_time=span.end_time,
                instrumentation_scope=span.instrumentation_scope,
            )

    def _resource(self, resource: Resource, redaction: Redaction) -> Resource:
        known = self._resources.get(id(resource))
        if known is None:
            attributes: Any = redaction.attributes(resource.attributes)
            known = self._resources[id(resource)] = (resource, Resource(attributes, resource.schema_url))
        return known[1]


def _event(event: Event, redaction: Redaction) -> Event:
    attributes: Any = redaction.spared(event.attributes or {}, CARRIED)
    return Event(redaction.text(event.name), attributes, event.timestamp)


def _link(link: Link, redaction: Redaction) -> Link:
    attributes: Any = redaction.attributes(link.attributes or {})
    return Link(link.context, attributes)


def _status(status: Status, redaction: Redaction) -> Status:
    if not status.description:
        return status
    return Status(status.status_code, redaction.text(status.description))
