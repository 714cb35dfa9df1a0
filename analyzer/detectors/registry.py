"""Every detector, in the order in which their causes are listed."""

from analyzer.detectors import (
    alternating_loop,
    context_pollution,
    cost_explosion,
    duplicate_side_effect,
    empty_result_as_success,
    environment_error,
    ignoring_tool_outputs,
    infinite_tool_loop,
    invalid_arguments,
    memory_degradation,
    missing_tool_output,
    permission_refused,
    rate_limited,
    resource_not_found,
    retry_storm,
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
    missing_tool_output.DETECTOR,
    empty_result_as_success.DETECTOR,
    alternating_loop.DETECTOR,
    retry_storm.DETECTOR,
    duplicate_side_effect.DETECTOR,
    slow_tool.DETECTOR,
)
