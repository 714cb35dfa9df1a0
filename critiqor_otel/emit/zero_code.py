"""What `opentelemetry-instrument` finds of us: exporters by name, and a hook that adds the processor beside them.

`OTEL_TRACES_EXPORTER=critiqor` sends OTLP, `critiqor_session` writes session files. The hook does nothing when the
variable names neither: it is no distro, and leaves the user's set-up alone.
"""

import os
from typing import Any

from opentelemetry import trace

from critiqor_otel.emit.configure import join_parent
from critiqor_otel.emit.processor import CritiqorSpanProcessor

__all__ = ["EXPORTERS", "after_instrumenting"]

EXPORTERS = frozenset(("critiqor", "critiqor_session"))
"""The names of our exporters; pyproject.toml says where each is."""


def after_instrumenting() -> None:
    """Add the processor to the provider that was set up for an exporter of ours."""
    named = {name.strip() for name in os.environ.get("OTEL_TRACES_EXPORTER", "").split(",")}
    provider: Any = trace.get_tracer_provider()
    add = getattr(provider, "add_span_processor", None)
    if EXPORTERS.isdisjoint(named) or add is None:
        return
    add(CritiqorSpanProcessor())
    join_parent()
