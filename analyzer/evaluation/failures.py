"""The SDK-style failures of a run, found in its calls, outputs, trace and answer by fixed rules.

Triggers and numbers are those of specification §4.3, in its order. Of its own this adds `infinite_tool_loop`, which the
documentation names and the original never gave: three or more equal calls, each seen to return the same. Calls whose
outputs are not all known stay `redundant_tool_calls`, as recorded.

Known limits, kept because they are recorded: only words of four or more ASCII letters and digits count as re-use of an
output, so an answer that repeats a bare number, or that is in another script, counts as ignoring it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analyzer.cause import FailureCause, Severity
from analyzer.evaluation.advice import advised
from analyzer.evaluation.evidence import EvaluationEvidence, ToolOutput
from analyzer.evaluation.repeats import Repeats, repeats
from analyzer.lenient import as_text
from analyzer.pattern import pattern

__all__ = ["detect_failure_causes"]

_LOOP = 3  # two equal calls are a retry; three are a habit
_LOOP_CRITICAL = 5
_MANY_REPEATS = 4
_MANY_IGNORED = 3
_LONG_WORD = 4
_FEW_WORDS = 3
_RETRY_EVENTS = frozenset(("retry", "retry_event"))
_WORD = pattern(r"[a-z0-9]+")
_FACTUAL = pattern(
    r"(?<!\w)[$€£]?\d[\d.,]*%?(?!\w)|\b(?:today|yesterday|latest|current|according to|source|study|report)\b"
)
_CERTAIN = ("certainly", "definitely", "guaranteed", "without a doubt", "100%", "always", "never")


@dataclass(frozen=True, slots=True)
class _Reading:
    """The evidence, and what several rules ask of it."""

    evidence: EvaluationEvidence
    answer: str
    answer_words: frozenset[str]
    output_words: tuple[frozenset[str], ...]
    ignored: int
    """Outputs that say something, without error, of which the answer shows no trace."""


def detect_failure_causes(evidence: EvaluationEvidence | Any) -> list[FailureCause]:
    """Return the failures that the evidence shows, in a fixed order; evidence may be given as its dict."""
    known = evidence if isinstance(evidence, EvaluationEvidence) else EvaluationEvidence.from_dict(evidence)
    reading = _read(known)
    return [cause for rule in _RULES for cause in rule(reading)]


def _read(evidence: EvaluationEvidence) -> _Reading:
    answer = evidence.response.lower()
    answer_words = _words(answer)
    output_words = tuple(_words(_output_text(output)) for output in evidence.tool_outputs)
    ignored = 0
    if answer.strip():
        ignored = sum(
            not output.error and _says_something(output) and not _reused(words, answer_words)
            for output, words in zip(evidence.tool_outputs, output_words, strict=True)
        )
    return _Reading(evidence, answer, answer_words, output_words, ignored)


def _repeated(reading: _Reading) -> Iterator[FailureCause]:
    for repeated in repeats(reading.evidence):
        if len(repeated.calls) >= _LOOP and repeated.learned_nothing:
            yield _loop(repeated)
        else:
            yield _redundant(repeated)


def _loop(repeated: Repeats) -> FailureCause:
    # The numbers of the session detector (specification §2), without its session-wide retries.
    count = len(repeated.calls)
    return advised(
        "infinite_tool_loop",
        Severity.CRITICAL if count >= _LOOP_CRITICAL else Severity.HIGH,
        -min(30, 8 + 4 * count),
        f"{repeated.calls[0].tool} was called {count} times with equal arguments and returned the same every time.",
        evidence=_call_ids(repeated),
    )


def _redundant(repeated: Repeats) -> FailureCause:
    count = len(repeated.calls)
    return advised(
        "redundant_tool_calls",
        Severity.HIGH if count >= _MANY_REPEATS else Severity.MEDIUM,
        max(-30, -15 * (count - 1)),
        f"{repeated.calls[0].tool} was called {count} times with equal arguments.",
        evidence=_call_ids(repeated),
    )


def _ignored_output(reading: _Reading) -> Iterator[FailureCause]:
    if count := reading.ignored:
        yield advised(
            "ignored_tool_output",
            Severity.HIGH if count >= _MANY_IGNORED else Severity.MEDIUM,
            max(-20, -7 * count),
            f"The answer shows no trace of {count} of {len(reading.evidence.tool_outputs)} tool outputs.",
        )


def _runtime(reading: _Reading) -> Iterator[FailureCause]:
    evidence = reading.evidence
    # An error that is both in the metrics and on its output counts twice, as recorded (`detect_error_counted_twice`),
    # unless the trace tells that they are one: the end of a tool with that error.
    errors = len(evidence.metrics.errors) + sum(bool(output.error) for output in evidence.tool_outputs)
    errors -= (Counter(_told_errors(evidence)) & Counter(evidence.metrics.errors)).total()
    names = [as_text(event.get("event", "")).lower() for event in evidence.trace]
    timeouts = sum(
        "timeout" in name or "timeout" in as_text(event.get("error", "")).lower()
        for name, event in zip(names, evidence.trace, strict=True)
    )
    retries = max(0, evidence.metrics.retries) + sum(name in _RETRY_EVENTS for name in names)
    if errors or timeouts or retries:
        yield advised(
            "runtime_failures",
            Severity.HIGH if errors or timeouts else Severity.MEDIUM,
            max(-30, -(10 * errors + 8 * timeouts + 5 * retries)),
            f"The run saw {errors} errors, {timeouts} time-outs and {retries} retries.",
        )


def _told_errors(evidence: EvaluationEvidence) -> Iterator[str]:
    for event in evidence.trace:
        if event.get("event") == "tool_end" and event.get("error"):
            yield as_text(event["error"])


def _unsupported(reading: _Reading) -> Iterator[FailureCause]:
    if not _FACTUAL.search(reading.answer):
        return
    evidence = reading.evidence
    if not evidence.tool_outputs and not evidence.trace:
        yield advised(
            "unsupported_claims", Severity.MEDIUM, -8, "The answer states facts and no evidence was recorded."
        )
    elif not _reused(frozenset[str]().union(*reading.output_words), reading.answer_words):
        yield advised(
            "unsupported_claims", Severity.MEDIUM, -9, "The answer states facts that no tool output supports."
        )


def _overconfident(reading: _Reading) -> Iterator[FailureCause]:
    evidence = reading.evidence
    term = next((term for term in _CERTAIN if term in reading.answer), None)
    weak = evidence.evidence_level == "response_only" or not (evidence.tool_outputs or evidence.trace)
    if term is not None and (weak or reading.ignored):
        yield advised(
            "confidence_mismatch", Severity.MEDIUM, -10, f"The answer says “{term}” on evidence that does not carry it."
        )


def _missing_outputs(reading: _Reading) -> Iterator[FailureCause]:
    evidence = reading.evidence
    if evidence.tool_calls and not evidence.tool_outputs:
        yield advised(
            "missing_tool_outputs",
            Severity.MEDIUM,
            -8,
            f"{len(evidence.tool_calls)} tool calls were recorded and none of their outputs.",
        )


_RULES = (_repeated, _ignored_output, _runtime, _unsupported, _overconfident, _missing_outputs)


def _call_ids(repeated: Repeats) -> tuple[str, ...]:
    return tuple(call.id for call in repeated.calls if call.id is not None)


def _output_text(output: ToolOutput) -> str:
    return "" if output.output is None else as_text(output.output)


def _says_something(output: ToolOutput) -> bool:
    return _WORD.search(_output_text(output).lower()) is not None


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.lower()) if len(word) >= _LONG_WORD and not word.isdigit())


def _reused(source: frozenset[str], answer: frozenset[str]) -> bool:
    """One common word is enough for a source of up to three words, two for a longer one (specification §4.3)."""
    return len(source & answer) >= (1 if len(source) <= _FEW_WORDS else 2)
