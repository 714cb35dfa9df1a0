"""Every detector, in the order in which their causes are listed."""

from analyzer.detectors import (
    context_pollution,
    cost_explosion,
    ignoring_tool_outputs,
    infinite_tool_loop,
    memory_degradation,
    skill_failure,
    slow_tool,
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
    slow_tool.DETECTOR,
)
