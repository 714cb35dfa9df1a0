"""Every detector, in the order in which their causes are listed."""

from analyzer.detectors import (
    context_pollution,
    cost_explosion,
    environment_error,
    ignoring_tool_outputs,
    infinite_tool_loop,
    invalid_arguments,
    memory_degradation,
    permission_refused,
    rate_limited,
    resource_not_found,
    service_error,
    skill_failure,
    slow_tool,
    tool_timeout,
    unhandled_tool_error,
    unknown_tool,
)
from analyzer.detectors.detector import Detector

__all__ = ["ALL"]

ALL: tuple[Detector, ...] = (
    infinite_tool_loop.DETECTOR,
    memory_degradation.DETECTOR,
    ignoring_tool_outputs.DETECTOR,
    context_pollution.DETECTOR,
    cost_explosion.DETECTOR,
    skill_failure.DETECTOR,
    unknown_tool.DETECTOR,
    invalid_arguments.DETECTOR,
    tool_timeout.DETECTOR,
    rate_limited.DETECTOR,
    permission_refused.DETECTOR,
    resource_not_found.DETECTOR,
    service_error.DETECTOR,
    environment_error.DETECTOR,
    unhandled_tool_error.DETECTOR,
    slow_tool.DETECTOR,
)
