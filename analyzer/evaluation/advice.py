"""Why each SDK-style failure comes about, what it does to the answer, and what helps."""

from typing import NamedTuple

from analyzer.cause import FailureCause, RootCause, Severity

__all__ = ["Advice", "advice_for", "advised"]


class Advice(NamedTuple):
    """The words of one failure type."""

    why: str
    effect: str
    fix: str


_ADVICE = {
    "infinite_tool_loop": Advice(
        "The agent repeats a call although the result it already has does not change.",
        "Every further call costs time and tokens and brings no new evidence.",
        "Tell the model that the result is final, or stop after the second equal call with an equal result.",
    ),
    "redundant_tool_calls": Advice(
        "The agent does not keep, or does not look up, what an earlier equal call returned.",
        "Time and tokens are spent twice for one piece of evidence.",
        "Keep results by tool and arguments and hand the kept one back on an equal call.",
    ),
    "ignored_tool_output": Advice(
        "What the tools returned did not reach the step that wrote the answer.",
        "The answer may contradict or leave out evidence that was at hand.",
        "Put tool results into the final prompt and ask for an answer that refers to them.",
    ),
    "runtime_failures": Advice(
        "Tools or services failed, timed out or had to be retried during the run.",
        "Steps may be missing, and the answer may rest on partial evidence.",
        "Handle the reported errors, set time-outs with a bounded number of retries, and tell the model of failures.",
    ),
    "unsupported_claims": Advice(
        "The answer states facts that nothing observed in the run supports.",
        "Readers can't tell recalled or invented facts from looked-up ones.",
        "Look facts up with a tool first, or have the answer say which evidence each claim rests on.",
    ),
    "confidence_mismatch": Advice(
        "The answer sounds more certain than its evidence allows.",
        "Readers trust the answer more than it deserves.",
        "Ask for wording that fits the evidence, and for doubts to be named.",
    ),
    "missing_tool_outputs": Advice(
        "Calls were recorded without what they returned.",
        "Nobody can check whether the answer rests on the tools' results.",
        "Record the output, or the error, of every tool call.",
    ),
}
_GENERIC = Advice(
    "The run shows a failure of a kind that has no page of its own.",
    "The result is less reliable than it looks.",
    "Look at the evidence of the failure and repeat the run with full instrumentation.",
)


def advice_for(failure_type: str) -> Advice:
    """Return the words of a failure type, general ones for a type without its own."""
    return _ADVICE.get(failure_type, _GENERIC)


def advised(
    failure_type: str, severity: Severity, impact: int, description: str, *, evidence: tuple[str, ...] = ()
) -> FailureCause:
    """Return a cause whose root cause and recommendation are those of its type; the penalty is its impact."""
    advice = advice_for(failure_type)
    return FailureCause(
        type=failure_type,
        severity=severity,
        impact=impact,
        description=description,
        root_cause=RootCause(advice.why, advice.effect, impact, advice.fix),
        recommendation=advice.fix,
        evidence=evidence,
    )
