"""Which steps lead to each kind of failure, and how each step reads in a sentence."""

__all__ = ["AMBIGUOUS", "first_step", "phrase", "steps_after"]

AMBIGUOUS = "prompt_ambiguity"
_TASK_UNCERTAIN = "prompt_or_task_uncertainty"
_STARTED = "agent_execution_started"
_TOOL_EVIDENCE = "tool_returned_evidence"

_UNCERTAIN_TASKS = frozenset(("ignored_tool_output", "unsupported_claims", "tool_misuse"))

_WRONG_TOOL = ("wrong_tool_selection", "irrelevant_tool_output", "missing_evidence")
_HALLUCINATED = ("wrong_tool_selection", "missing_evidence", "hallucinated_answer")

# SDK-style types: specification §4.2. Session types: the chain of their detector (specification §2), which the original
# knew and did not use here. A hallucinated answer: the documentation's sample chain, which the original couldn't give.
_STEPS: dict[str, tuple[str, ...]] = {
    "tool_misuse": _WRONG_TOOL,
    "wrong_tool_selection": _WRONG_TOOL,
    "ignored_tool_output": (_TOOL_EVIDENCE, "evidence_not_integrated", "hallucinated_answer"),
    "redundant_tool_calls": ("execution_loop", "redundant_tool_calls", "efficiency_loss"),
    "runtime_failures": ("tool_failure", "retry_or_timeout", "incomplete_execution"),
    "confidence_mismatch": ("weak_evidence", "overconfident_language", "trust_miscalibration"),
    "unsupported_claims": ("missing_evidence", "unsupported_claims", "hallucinated_answer"),
    "missing_tool_outputs": ("tool_call_without_output", "missing_evidence", "low_evaluation_confidence"),
    "hallucination": _HALLUCINATED,
    "hallucinated_answer": _HALLUCINATED,
    "infinite_tool_loop": ("tool_call", "tool_failure_or_no_progress", "retry_same_action", "loop_flagged"),
    "memory_degradation": ("memory_stored", "recall_failed_or_ignored", "state_reconstruction_failed"),
    "ignoring_tool_outputs": ("tool_call", "tool_output", "decision_skipped_output", "unsupported_agent_step"),
    "context_pollution": ("context_growth", "saturation_or_compaction", "key_state_risk"),
    "cost_explosion": ("repeated_reasoning_or_calls", "token_waste", "cost_spike"),
    "skill_failure": ("skill_available", "skill_not_selected_or_failed", "generic_execution"),
}
_UNCLASSIFIED = ("unclassified_failure", "reduced_trust")

_PHRASES = {
    AMBIGUOUS: "Prompt was ambiguous",
    _TASK_UNCERTAIN: "Prompt or task was uncertain",
    _STARTED: "Agent started executing",
    _TOOL_EVIDENCE: "Tool returned evidence",
    "context_growth": "Context grew",
    "cost_spike": "Cost spiked",
    "decision_skipped_output": "Decision skipped the output",
    "efficiency_loss": "Efficiency was lost",
    "evidence_not_integrated": "Evidence was not integrated",
    "execution_loop": "Execution went in a loop",
    "generic_execution": "Agent worked without the skill",
    "hallucinated_answer": "Final answer hallucinated",
    "incomplete_execution": "Execution stayed incomplete",
    "irrelevant_tool_output": "Tool output was irrelevant",
    "key_state_risk": "Key state was at risk",
    "loop_flagged": "Loop was flagged",
    "low_evaluation_confidence": "Evaluation confidence was low",
    "memory_stored": "Memory was stored",
    "missing_evidence": "Evidence was missing",
    "overconfident_language": "Language was overconfident",
    "recall_failed_or_ignored": "Recall failed or was ignored",
    "reduced_trust": "Trust was reduced",
    "redundant_tool_calls": "Tool calls were redundant",
    "repeated_reasoning_or_calls": "Reasoning or calls were repeated",
    "retry_or_timeout": "Call was retried or timed out",
    "retry_same_action": "Same action was retried",
    "saturation_or_compaction": "Context was saturated or compacted",
    "skill_available": "Skill was available",
    "skill_not_selected_or_failed": "Skill was not selected or failed",
    "state_reconstruction_failed": "State could not be reconstructed",
    "token_waste": "Tokens were wasted",
    "tool_call": "Tool was called",
    "tool_call_without_output": "Tool call had no output",
    "tool_failure": "Tool failed",
    "tool_failure_or_no_progress": "Tool failed or brought no progress",
    "tool_output": "Tool returned an output",
    "trust_miscalibration": "Trust was miscalibrated",
    "unclassified_failure": "Failure was of no known kind",
    "unsupported_agent_step": "Agent's step was unsupported",
    "unsupported_claims": "Claims were unsupported",
    "weak_evidence": "Evidence was weak",
    "wrong_tool_selection": "Agent selected incorrect tool",
}


def first_step(failure_type: str) -> str:
    """Return where the chain to a failure starts when nothing in the trace says more."""
    return _TASK_UNCERTAIN if failure_type in _UNCERTAIN_TASKS else _STARTED


def steps_after(failure_type: str, *, saw_tool: bool) -> tuple[str, ...]:
    """Return the steps of a failure after the first; evidence returned by a tool needs a tool to have been seen."""
    steps = _STEPS.get(failure_type, _UNCLASSIFIED)
    return steps if saw_tool else tuple(step for step in steps if step != _TOOL_EVIDENCE)


def phrase(step: str) -> str:
    """Return a step, or a failure type, as a sentence without its full stop; the event of a run as it is."""
    if "(" in step:
        return step
    return _PHRASES.get(step) or step.replace("_", " ").strip().capitalize()
