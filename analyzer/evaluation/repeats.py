"""Which tool calls of the evidence were made again, and whether the agent had learned anything in between."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.evaluation.evidence import EvaluationEvidence, ToolCall, ToolOutput

__all__ = ["Repeats", "repeats"]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Equal calls, two or more."""

    calls: tuple[ToolCall, ...]
    learned_nothing: bool
    """Every call has its own output, and all of them are equal: the agent saw the same again and again."""


def repeats(evidence: EvaluationEvidence) -> list[Repeats]:
    """Return the calls that were made more than once, in order of their first.

    Calls are equal when tool and argument texts are: argument order does not matter at the top level and does
    below it, and 1 equals "1" (specification §4.3).
    """
    groups: dict[Any, list[int]] = {}
    for position, call in enumerate(evidence.tool_calls):
        groups.setdefault(_signature(call), []).append(position)
    outputs = _paired(evidence.tool_calls, evidence.tool_outputs)
    return [
        Repeats(
            tuple(evidence.tool_calls[position] for position in positions),
            _all_equal([outputs[position] for position in positions]),
        )
        for positions in groups.values()
        if len(positions) > 1
    ]


def _signature(call: ToolCall) -> tuple[str, tuple[tuple[str, str], ...]]:
    return call.tool, tuple(sorted((str(key), str(value)) for key, value in call.args.items()))


def _paired(calls: Sequence[ToolCall], outputs: Sequence[ToolOutput]) -> list[ToolOutput | None]:
    """Return each call's output: by call id, else the next output of the tool that names no call."""
    by_id: dict[str, ToolOutput] = {}
    unnamed: defaultdict[str, deque[ToolOutput]] = defaultdict(deque)
    for output in outputs:
        if output.call_id is not None:
            by_id.setdefault(output.call_id, output)
        else:
            unnamed[output.tool].append(output)
    return [_output_of(call, by_id, unnamed[call.tool]) for call in calls]


def _output_of(call: ToolCall, by_id: dict[str, ToolOutput], unnamed: deque[ToolOutput]) -> ToolOutput | None:
    if call.id is not None and call.id in by_id:
        return by_id[call.id]
    return unnamed.popleft() if unnamed else None


def _all_equal(outputs: list[ToolOutput | None]) -> bool:
    first = outputs[0]
    if first is None:
        return False
    return all(
        output is not None and output.output == first.output and output.error == first.error for output in outputs
    )
