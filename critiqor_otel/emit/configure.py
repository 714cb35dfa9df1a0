"""One call that observes an agent: a provider, our processor, session files, and OTLP where it is asked for."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from critiqor_otel.emit.batching import SpanBatcher
from critiqor_otel.emit.export_rules import ExportRules
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.processor import CritiqorSpanProcessor
from critiqor_otel.emit.session_exporter import SessionExporter
from critiqor_otel.emit.watch import Alarm

__all__ = ["configure", "join_parent"]

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_USUAL = ExportRules()


def configure(
    service_name: str | None = None,
    *,
    runs: str | Path | None = None,
    endpoint: str | None = None,
    on_failure: Callable[[Alarm], object] | None = None,
    rules: ExportRules = _USUAL,
) -> TracerProvider:
    """Observe this process, and return the tracer provider that does it.

    Session files go to `runs` (else CRITIQOR_RUNS_DIR, else `runs/`); with an endpoint, here or in the OTLP variables,
    spans go there too. A provider that is set already is used; called again, nothing is added.
    """
    provider = _provider(service_name)
    if getattr(provider, _MARK, False):
        return provider
    setattr(provider, _MARK, True)
    provider.add_span_processor(CritiqorSpanProcessor(on_failure=on_failure))
    provider.add_span_processor(SpanBatcher(SessionExporter(runs, rules=rules)))
    if endpoint is not None or any(os.environ.get(name) for name in _ENDPOINTS):
        provider.add_span_processor(SpanBatcher(OTLPSpanExporter(endpoint, rules=rules)))
    join_parent()
    return provider


def join_parent() -> None:
    """Make the trace of the process that started this one the current one, where the environment names it."""
    carrier = {name: os.environ[name.upper()] for name in ("traceparent", "tracestate") if name.upper() in os.environ}
    if carrier and not trace.get_current_span().get_span_context().is_valid:
        otel_context.attach(TraceContextTextMapPropagator().extract(carrier))


_MARK = "_critiqor_is_configured"


def _provider(service_name: str | None) -> TracerProvider:
    found: Any = trace.get_tracer_provider()
    if isinstance(found, TracerProvider):
        return found
    resource = None if service_name is None else Resource.create({SERVICE_NAME: service_name})
    made = TracerProvider(resource=resource)
    trace.set_tracer_provider(made)
    return made
