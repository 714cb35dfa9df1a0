"""The environment in which an observed command sends its telemetry here, in whatever language it is written.

Sources: OpenTelemetry's environment variable specification, and its protocol exporter's.
"""

import os
from collections.abc import Mapping

__all__ = ["observed_environment"]

_SIGNALS = ("TRACES", "LOGS", "METRICS")
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def observed_environment(endpoint: str, *, content: bool, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables to set; settings of the user's that would send elsewhere are overridden.

    `endpoint` takes OTLP over HTTP and gRPC alike, since programs that name an exporter in their code read no protocol.
    """
    variables = {
        "OTEL_SDK_DISABLED": "false",
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": given.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        "OTEL_EXPORTER_OTLP_INSECURE": "true",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_TRACES_SAMPLER": "always_on",
        # A command that crashes takes with it what was not sent yet.
        "OTEL_BSP_SCHEDULE_DELAY": given.get("OTEL_BSP_SCHEDULE_DELAY", "200"),
        "OTEL_BLRP_SCHEDULE_DELAY": given.get("OTEL_BLRP_SCHEDULE_DELAY", "200"),
    }
    for signal in _SIGNALS:
        if f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT" in given:
            variables[f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"] = f"{endpoint}/v1/{signal.lower()}"
    if content:
        variables[_CONTENT] = given.get(_CONTENT, "true")
    return variables
