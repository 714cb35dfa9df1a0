"""Which facts this run's traces don't carry, so that none of them is taken for zero (design §8)."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from analyzer.session.accessors import ABSENT
from analyzer.timeline.call import Call
from analyzer.timeline.model_calls import ModelCall

__all__ = ["Carried", "Fact", "missing_facts"]


class Fact(StrEnum):
    """What a trace may carry or not; `missing` lists them in this order."""

    TOKENS = "tokens"
    MODEL_CALLS = "model_calls"
    TOOL_CALLS = "tool_calls"
    TOOL_ARGUMENTS = "tool_arguments"
    TOOL_RESULTS = "tool_results"
    TOOL_ERRORS = "tool_errors"
    MESSAGES = "messages"


class Carried(Struct, frozen=True, kw_only=True):
    """What was found in a run."""

    calls: Sequence[Call]
    outputs: int
    """Outputs, those of no visible call among them."""
    model_calls: Sequence[ModelCall]
    hidden_model_calls: bool
    """There were model calls that no trace shows."""
    tokens: bool
    """Something reports usage."""
    last_progress: int
    """Position of the last event that shows the run going on."""
    ended: bool
    """The run is not known to have been cut off."""
    in_part: frozenset[str]
    """Facts that the source of the session says it carries only in part."""


def missing_facts(carried: Carried) -> tuple[Fact, ...]:
    """Return the facts that are not carried, or known to be carried in part only."""
    lacks_tools = _lacks_tool_calls(carried)
    work = [call for call in carried.calls if not call.pseudo]
    answered = [call for call in work if call.output_id is not None]
    silent = len(answered) < len(work) and any(_was_answered_unseen(call, carried) for call in work)
    models = carried.model_calls
    absent = {
        Fact.TOKENS: not carried.tokens or carried.hidden_model_calls,
        Fact.MODEL_CALLS: not models or carried.hidden_model_calls,
        Fact.TOOL_CALLS: lacks_tools,
        Fact.TOOL_ARGUMENTS: lacks_tools or any(call.arguments is ABSENT for call in work),
        Fact.TOOL_RESULTS: lacks_tools or silent or any(_lacks_result(call) for call in answered),
        Fact.TOOL_ERRORS: lacks_tools or silent or None in [call.status for call in answered],
        Fact.MESSAGES: bool(models) and not any(call.messages for call in models),
    }
    return tuple(fact for fact in Fact if absent[fact] or fact in carried.in_part)


def _lacks_tool_calls(carried: Carried) -> bool:
    """Return whether tools may have been called unseen: no tool event, and no model call that would show one."""
    if carried.calls or carried.outputs:
        return False
    return not carried.model_calls or not all(call.shows_tools for call in carried.model_calls)


def _was_answered_unseen(call: Call, carried: Carried) -> bool:
    """Return whether the run went on after a call without output: it was answered, and the trace lacks the answer."""
    if call.output_id is not None or call.pseudo or not carried.ended:
        return False
    return call.position < carried.last_progress or (carried.outputs == 0 and len(carried.calls) > 1)


def _lacks_result(call: Call) -> bool:
    return call.result is ABSENT and call.error is None
