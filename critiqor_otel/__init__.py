"""Agent evidence as OpenTelemetry, and any agent's traces as sessions and diagnoses.

The names that agents use are here; each is loaded when it is first asked for.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "CritiqorSpanProcessor": "critiqor_otel.emit.processor",
    "EvidenceRecorder": "critiqor_otel.emit.recorder",
    "ExportRules": "critiqor_otel.emit.export_rules",
    "OTLPSpanExporter": "critiqor_otel.emit.otlp_exporter",
    "RecordingOptions": "critiqor_otel.emit.recording_options",
    "Redaction": "critiqor_otel.emit.redaction",
    "SessionExporter": "critiqor_otel.emit.session_exporter",
    "SpanBatcher": "critiqor_otel.emit.batching",
    "StampingExporter": "critiqor_otel.emit.stamping_exporter",
    "Watch": "critiqor_otel.emit.watch",
    "configure": "critiqor_otel.emit.configure",
    "current_recorder": "critiqor_otel.emit.recorder",
    "monitor": "critiqor_otel.emit.recorder",
    "monitor_process": "critiqor_otel.emit.process_monitor",
    "spans_of": "critiqor_otel.emit.session_spans",
    "wrap_tool": "critiqor_otel.emit.recorder",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"critiqor_otel has no {name}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES))
