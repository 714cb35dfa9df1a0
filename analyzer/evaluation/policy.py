"""Does a run meet the rules that a team set for deployment, and what does that make it?

Decided where the sources of the format disagree:
- a critical failure blocks always, a high one unless the policy lets it pass;
- a run that breaks a rule is `unsafe_for_production`; one that breaks none is `safe_to_deploy` only when its own
  numbers say so too and every configured limit could be checked, otherwise `review_recommended`: a lax policy makes
  no weak run safe.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from analyzer.cause import Severity
from analyzer.evaluation.frozen import FrozenList, document
from analyzer.evaluation.judgement import recommend_deployment
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.runs import as_record
from analyzer.evaluation.words import DEPLOYMENT_RECOMMENDATIONS, DeploymentRecommendation
from analyzer.lenient import as_mapping, as_number, as_sequence, as_text, as_word

__all__ = ["PolicyCheckResult", "PolicyRule", "check_policy", "check_rules", "rule_names", "unknown_rules"]

_BLOCK_HIGH = "block_high_severity_failures"
_NO = frozenset(("false", "no", "off", "0", ""))


@dataclass(frozen=True, slots=True)
class PolicyCheckResult:
    """The decision of a deployment gate."""

    passed: bool
    deployment_recommendation: DeploymentRecommendation
    messages: Sequence[str]
    """One for each rule that was broken, or one that says why the run may pass."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", FrozenList(self.messages))

    def to_dict(self) -> dict[str, Any]:
        """Return the three fields as a JSON-serialisable dict."""
        return document(
            {
                "passed": self.passed,
                "deployment_recommendation": self.deployment_recommendation,
                "messages": self.messages,
            }
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the decision of a dict; only true passes, an unknown recommendation is `review_recommended`."""
        found = as_mapping(payload)
        return cls(
            passed=found.get("passed") is True,
            deployment_recommendation=as_word(
                found.get("deployment_recommendation"), DEPLOYMENT_RECOMMENDATIONS, "review_recommended"
            ),
            messages=list(map(as_text, as_sequence(found.get("messages")))),
        )


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule of a policy, held against a run."""

    name: str
    value: float | str | None
    """What the run has; None when it has no such score."""
    limit: Any
    """What the policy asks for, as it was written."""
    passed: bool
    message: str
    """What was found, in one sentence."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """A rule that compares one number of a run with a limit; the limit itself passes."""

    name: str
    what: str
    read: Callable[[EvaluationRecord], int | None]
    is_maximum: bool = False
    default: int | None = None

    def check(self, record: EvaluationRecord, policy: Mapping[str, Any]) -> PolicyRule | None:
        """Return the outcome, None when the policy does not set the limit."""
        written = policy.get(self.name, self.default)
        if written is None:
            return None
        value, limit = self.read(record), as_number(written)
        if limit is None:
            return PolicyRule(self.name, value, written, passed=False, message=f"{self.name} is no number: {written!r}")
        if value is None:
            return PolicyRule(self.name, None, written, passed=True, message=f"{self.what} is not known of this run")
        passed = value <= limit if self.is_maximum else value >= limit
        relation = "at most" if self.is_maximum else "at least"
        return PolicyRule(
            self.name, value, written, passed=passed, message=f"{self.what} is {value}, asked for {relation} {written}"
        )


def check_policy(run: Any, policy: Mapping[str, Any] | None = None) -> PolicyCheckResult:
    """Return whether a run meets a policy; without one, only high and critical failures stand in its way."""
    record = as_record(run)
    rules = check_rules(record, policy)
    broken = [rule.message for rule in rules if not rule.passed]
    if broken:
        return PolicyCheckResult(passed=False, deployment_recommendation="unsafe_for_production", messages=broken)
    doubts = [*_doubts(record), *(rule.message for rule in rules if rule.value is None)]
    if doubts:
        message = f"The run meets every rule, but should be reviewed: {'; '.join(doubts)}."
        return PolicyCheckResult(passed=True, deployment_recommendation="review_recommended", messages=[message])
    allowed = "The run meets every rule and may be deployed."
    return PolicyCheckResult(passed=True, deployment_recommendation="safe_to_deploy", messages=[allowed])


def check_rules(run: Any, policy: Mapping[str, Any] | None = None) -> list[PolicyRule]:
    """Return the outcome of each rule that applies, in the documented order."""
    record = as_record(run)
    asked = as_mapping(policy)
    outcomes = [limit.check(record, asked) for limit in _LIMITS[:3]]
    outcomes.append(_check_severity(record, asked))
    outcomes += [limit.check(record, asked) for limit in _LIMITS[3:]]
    return [outcome for outcome in outcomes if outcome is not None]


def unknown_rules(policy: Mapping[str, Any]) -> list[str]:
    """Return the keys of a policy that name no rule, sorted: they change nothing, and should not go unsaid."""
    known = rule_names()
    return sorted(as_text(name) for name in policy if name not in known)


def rule_names() -> tuple[str, ...]:
    """Return the keys that a policy may have."""
    return (*(limit.name for limit in _LIMITS), _BLOCK_HIGH)


def _hallucination_risk(record: EvaluationRecord) -> int | None:
    score = record.scores.get("hallucination")
    return None if score is None else 100 - score


_LIMITS = (
    _Limit("minimum_trust_score", "the trust score", lambda record: record.trust_score, default=0),
    _Limit("maximum_hallucination_risk", "the hallucination risk", _hallucination_risk, is_maximum=True),
    _Limit("minimum_tool_reliability", "tool reliability", lambda record: record.scores.get("tool_reliability")),
    _Limit("minimum_evaluation_confidence", "the evaluation confidence", lambda record: record.evaluation_confidence),
)


def _check_severity(record: EvaluationRecord, policy: Mapping[str, Any]) -> PolicyRule:
    written = policy.get(_BLOCK_HIGH, True)
    blocked = (Severity.HIGH, Severity.CRITICAL) if _is_on(written) else (Severity.CRITICAL,)
    found = sorted({f"{cause.type} ({cause.severity})" for cause in record.failure_causes if cause.severity in blocked})
    named = ", ".join(found) or "none"
    return PolicyRule(
        _BLOCK_HIGH,
        named,
        written,
        passed=not found,
        message=f"failures of severity {' or '.join(blocked)}: {named}",
    )


def _is_on(written: Any) -> bool:
    return written.strip().lower() not in _NO if isinstance(written, str) else bool(written)


def _doubts(record: EvaluationRecord) -> list[str]:
    own = recommend_deployment(record.trust_score, record.evaluation_confidence, record.failure_causes)
    if own != "safe_to_deploy":
        return [f"by its own numbers it is {own}"]
    # A recorded "review_recommended" says little: it is also what every unreadable value is read as.
    if record.deployment_recommendation == "unsafe_for_production":
        return ["it was recorded as unsafe_for_production"]
    return []
