"""A tool was called with arguments that it can't take.

## What it does
Reports calls whose error says that the arguments are wrong, by status (400, 422) or by words of validators in many
languages, and calls whose arguments break the JSON schema that the run's requests declare for the tool. Severity
follows from what came of it: high where the run failed with it, medium where no later call made up for it and the
agent says nothing of it, else low; one that was made up for is marked `recovered`. Arguments that break the schema of
a tool that took them all the same are of severity medium; what tools put right by themselves (a number in a text, a
property too many) is passed over there.

## Why is this bad
The call is for nothing, or the tool does something else than was meant: it falls back on a default, or cuts off what it
does not know.

## Example
```json
[
  {"event": "tool_call", "tool": "get_order", "args": {}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "get_order", "error": "missing required argument: id",
    "timestamp": "2025-06-01T12:00:01Z"},
  {"event_type": "agent_end", "payload": {"output": "It arrives on Monday."}, "timestamp": "2025-06-01T12:00:02Z"}
]
```

## How to fix
Describe each parameter with an example, use enums and strict schemas, and let the error say what is expected.

## Known limits
A schema is known only where requests carry it, and patterns and formats in it are not looked at. Values that fit the
schema and are wrong all the same are not seen.
"""

from collections.abc import Iterator

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, call_text, fingerprint, shown_by
from analyzer.detectors.failing_calls import Finding, Kind, causes_of, finding_of, trail_of
from analyzer.profile import Profile
from analyzer.timeline.aftermath import Aftermath, Outlook
from analyzer.timeline.call import Call
from analyzer.timeline.error_classes import ErrorClass
from analyzer.timeline.failures import FailedCall
from analyzer.timeline.index import Timeline
from analyzer.timeline.json_schema import Breach
from analyzer.timeline.missing import Fact

__all__ = ["DETECTOR"]

TYPE = "invalid_arguments"
ACCEPTED_IMPACT = -6
SHOWN = 10
WHY = Why(
    "The model filled in arguments that don't fit the tool.",
    "The call was for nothing, or the tool did something else than was meant.",
    "Describe parameters with examples, use enums and strict schemas, and let the error say what is expected.",
)
KIND = Kind(failure_type=TYPE, verb="was refused for its arguments", why=WHY)
ACCEPTED = Outlook(Aftermath.UNSEEN)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause a tool that refused arguments, then one a tool that took some that break its schema."""
    failures = timeline.failures
    breaches = failures.breaches
    refused = [failed for failed in failures.of_tools if failed.owner is ErrorClass.ARGUMENTS]
    yield from causes_of(timeline, KIND, [_refused(timeline, failed, breaches) for failed in refused])
    failed_at = {failed.call.position for failed in failures.of_tools}
    accepted: dict[str, list[Call]] = {}
    for call in timeline.work if breaches else ():
        breach = breaches.get(call.position)
        if breach is not None and not breach.soft and call.position not in failed_at:
            accepted.setdefault(call.tool or "", []).append(call)
    for calls in accepted.values():
        yield _accepted(timeline, calls, breaches[calls[0].position])


def _refused(timeline: Timeline, failed: FailedCall, breaches: dict[int, Breach]) -> Finding:
    finding = finding_of(timeline, failed, made_by_model=True)
    breach = breaches.get(failed.call.position)
    says_less = failed.failure.error_class is not ErrorClass.ARGUMENTS
    return finding._replace(said=_told(breach)) if breach is not None and says_less else finding


def _accepted(timeline: Timeline, calls: list[Call], breach: Breach) -> FailureCause:
    others = f" {len(calls) - 1} more so." if len(calls) > 1 else ""
    trails = (trail_of(timeline, call, ACCEPTED, made_by_model=True) for call in calls[:SHOWN])
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=ACCEPTED_IMPACT,
        description=f"{call_text(calls[0])} breaks the declared schema: {_told(breach)}. The tool took it.{others}",
        root_cause=WHY.root_cause(ACCEPTED_IMPACT),
        recommendation=WHY.fix,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="schema-broken",
        fingerprint=fingerprint(TYPE, calls[0].tool, breach.path),
        **shown_by(timeline.events[place] for place in dict.fromkeys(place for trail in trails for place in trail)),
    )


def _told(breach: Breach) -> str:
    return f"{breach.path or 'the whole'} {breach.what}"


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.SKILL_ADHERENCE,
    summary="A tool was called with arguments that it can't take",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS, Fact.TOOL_ERRORS}),
    steps=("arguments_made_up", "call_refused", "result_missing"),
    find={Profile.STANDARD: find},
)
