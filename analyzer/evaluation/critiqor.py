"""How reliable was this run? Scores from its evidence by fixed rules, with no model in the loop."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analyzer.cause import FailureCause
from analyzer.evaluation.evidence import EvaluationEvidence
from analyzer.evaluation.failures import detect_failure_causes
from analyzer.evaluation.judgement import calculate_evaluation_confidence, recommend_deployment
from analyzer.evaluation.result import CritiqorResult, trust_level
from analyzer.evaluation.words import DIMENSIONS, EvidenceLevel
from analyzer.lenient import as_text

__all__ = ["Critiqor", "judge", "reliability_scores"]

_FULL = 100
_FLOOR = 20

# What the trust in the scores is worth at each level of evidence, in percent (specification §4.3).
_WORTH: dict[EvidenceLevel, int] = {"response_only": 85, "trace_available": 95, "fully_instrumented": 100}


@dataclass(frozen=True, slots=True)
class _Cap:
    """How high a dimension can be beside a failure."""

    dimension: str
    at_most: int
    less_impact: bool = False
    """The worst impact comes off the cap, which then ends at 20."""

    def holds(self, worst: int) -> int:
        """Return the cap for a failure whose worst impact is given."""
        return max(_FLOOR, self.at_most + worst) if self.less_impact else self.at_most


# Specification §4.3; a loop counts as the redundant calls that it is.
_CAPS: dict[str, tuple[_Cap, ...]] = {
    "confidence_mismatch": (_Cap("calibration", 65),),
    "ignored_tool_output": (_Cap("task_completion", 72),),
    "infinite_tool_loop": (_Cap("execution_efficiency", 85, less_impact=True),),
    "missing_tool_outputs": (_Cap("tool_reliability", 60),),
    "redundant_tool_calls": (_Cap("execution_efficiency", 85, less_impact=True),),
    "runtime_failures": (_Cap("execution_efficiency", 90, less_impact=True), _Cap("tool_reliability", 65)),
    "unsupported_claims": (_Cap("hallucination", 68),),
}


class Critiqor:
    """Evaluates the runs of one agent.

    The agent is anything: a name, a callable that answers a prompt, an object with `run(prompt)`. It is only called
    when an evaluation is asked for without a response.
    """

    def __init__(self, agent: Any = None) -> None:
        self.agent = agent

    def evaluate(  # noqa: PLR0913  # the documented signature
        self,
        prompt: str = "",
        response: Any = None,
        tool_calls: Any = None,
        tool_outputs: Any = None,
        trace: Any = None,
        *,
        metrics: Any = None,
        evidence_level: EvidenceLevel | None = None,
    ) -> CritiqorResult:
        """Return the evaluation of one run; calls, outputs, trace and metrics may be given as dicts.

        Without a response the agent is asked for it, and what it raises is raised.

        Raises:
            TypeError: there is no response, and the agent can't be asked for one.
        """
        answer = self._ask(prompt) if response is None else response
        return judge(
            EvaluationEvidence.from_dict(
                {
                    "prompt": prompt,
                    "response": answer,
                    "tool_calls": tool_calls,
                    "tool_outputs": tool_outputs,
                    "trace": trace,
                    "metrics": metrics,
                    "evidence_level": evidence_level,
                }
            )
        )

    def _ask(self, prompt: str) -> str:
        run = getattr(self.agent, "run", None)
        ask: Callable[[str], Any] | None = run if callable(run) else self.agent if callable(self.agent) else None
        if ask is None:
            raise TypeError(f"no response was given, and an agent of type {type(self.agent).__name__} can't be asked")
        return as_text(ask(prompt))


def judge(evidence: EvaluationEvidence) -> CritiqorResult:
    """Return the evaluation of a run's evidence; the same evidence gives the same evaluation."""
    causes = detect_failure_causes(evidence)
    scores = reliability_scores(evidence, causes)
    trust = round(Fraction(sum(scores.values()) * _WORTH[evidence.evidence_level], 100 * len(scores)))
    confidence = calculate_evaluation_confidence(evidence, causes)
    return CritiqorResult(
        confidence=trust,
        trust_level=trust_level(trust),
        scores=scores,
        failure_causes=causes,
        evidence_level=evidence.evidence_level,
        evaluation_confidence=confidence,
        deployment_recommendation=recommend_deployment(trust, confidence, causes),
        evidence=evidence,
    )


def reliability_scores(evidence: EvaluationEvidence, causes: Iterable[FailureCause]) -> dict[str, int]:
    """Return the seven dimensions, each 100 less what its failures cap it to.

    A run without an answer completed nothing: its task completion is 0.
    """
    scores = dict.fromkeys(DIMENSIONS, _FULL)
    if not evidence.response.strip():
        scores["task_completion"] = 0
    for failure, worst in _worst_impacts(causes).items():
        for cap in _CAPS.get(failure, ()):
            scores[cap.dimension] = min(scores[cap.dimension], cap.holds(worst))
    return scores


def _worst_impacts(causes: Iterable[FailureCause]) -> dict[str, int]:
    worst: dict[str, int] = {}
    for cause in causes:
        worst[cause.type] = min(cause.impact, worst.get(cause.type, 0))
    return worst
