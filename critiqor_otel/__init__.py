"""Agent evidence as OpenTelemetry, and any agent's traces as sessions and diagnoses.

The names that agents use, and the types and functions of critiqor's documentation, are here; each is loaded when it is
first asked for. What type checkers see of them stands in the stub beside this file.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "AgentProfile": "analyzer.evaluation",
    "AgentType": "analyzer.evaluation",
    "BenchmarkResult": "analyzer.evaluation",
    "CausalGraph": "analyzer.evaluation",
    "CausalGraphEdge": "analyzer.evaluation",
    "CertificationLevel": "analyzer.evaluation",
    "Critiqor": "analyzer.evaluation",
    "CritiqorResult": "analyzer.evaluation",
    "CritiqorSpanProcessor": "critiqor_otel.emit.processor",
    "DeploymentRecommendation": "analyzer.evaluation",
    "EvaluationEvidence": "analyzer.evaluation",
    "EvaluationRecord": "analyzer.evaluation",
    "EvidenceLevel": "analyzer.evaluation",
    "EvidenceRecorder": "critiqor_otel.emit.recorder",
    "ExportRules": "critiqor_otel.emit.export_rules",
    "FailureCause": "analyzer.evaluation",
    "FailureSeverity": "analyzer.evaluation",
    "History": "analyzer.evaluation",
    "HistoryWarning": "analyzer.evaluation",
    "Leaderboard": "analyzer.evaluation",
    "LeaderboardEntry": "analyzer.evaluation",
    "OTLPSpanExporter": "critiqor_otel.emit.otlp_exporter",
    "PolicyCheckResult": "analyzer.evaluation",
    "RecordingOptions": "critiqor_otel.emit.recording_options",
    "Redaction": "critiqor_otel.emit.redaction",
    "ReliabilityCertification": "analyzer.evaluation",
    "ReliabilityInsight": "analyzer.evaluation",
    "RootCause": "analyzer.evaluation",
    "RunComparison": "analyzer.evaluation",
    "RuntimeMetrics": "analyzer.evaluation",
    "SessionExporter": "critiqor_otel.emit.session_exporter",
    "SpanBatcher": "critiqor_otel.emit.batching",
    "StampingExporter": "critiqor_otel.emit.stamping_exporter",
    "ToolCall": "analyzer.evaluation",
    "ToolOutput": "analyzer.evaluation",
    "TrendAnalysis": "analyzer.evaluation",
    "TrendDirection": "analyzer.evaluation",
    "TrustLevel": "analyzer.evaluation",
    "Watch": "critiqor_otel.emit.watch",
    "analyze_trends": "analyzer.evaluation",
    "benchmark_run": "analyzer.evaluation",
    "build_causal_graph": "analyzer.evaluation",
    "calculate_evaluation_confidence": "analyzer.evaluation",
    "certify_run": "analyzer.evaluation",
    "check_policy": "analyzer.evaluation",
    "compare_runs": "analyzer.evaluation",
    "configure": "critiqor_otel.emit.configure",
    "current_recorder": "critiqor_otel.emit.recorder",
    "detect_failure_causes": "analyzer.evaluation",
    "explain_failure_chain": "analyzer.evaluation",
    "generate_insights": "analyzer.evaluation",
    "generate_leaderboard": "analyzer.evaluation",
    "load_evaluations": "analyzer.evaluation",
    "monitor": "critiqor_otel.emit.recorder",
    "monitor_process": "critiqor_otel.emit.process_monitor",
    "recommend_deployment": "analyzer.evaluation",
    "register_agent": "analyzer.evaluation",
    "save_evaluation": "analyzer.evaluation",
    "spans_of": "critiqor_otel.emit.session_spans",
    "submit_run": "analyzer.evaluation",
    "trust_from_run": "analyzer.evaluation",
    "wrap_tool": "critiqor_otel.emit.recorder",
}

__all__ = list(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]  # the stub lists them


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"critiqor_otel has no {name}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES))
