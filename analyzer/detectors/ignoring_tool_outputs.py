"""A tool gave something back and the agent did not use it.

## What it does
Reports tool outputs that are marked as unused: `used` or `referenced` is false, or the status is `ignored`. Severity
medium, high from two on.

Where nothing is marked, values tell: ids, numbers, names and phrases of an output that turn up in later arguments,
prompts or answers show that it was used (rule `no-value-seen-again`). A tool that looks something up
and of whose outputs nothing ever turns up is reported at severity low. When that holds for all outputs of a run, and
its answer states numbers that neither stand anywhere before nor follow from those of the outputs, the severity is
medium.

## Why is this bad
The call was paid for, and the step after it rests on something else than the evidence: a guess, or an old assumption.

## Example
```json
[
  {"event": "tool_call", "tool": "search", "args": {"q": "return policy"}, "timestamp": "2025-06-01T12:00:00Z"},
  {"event": "tool_output", "tool": "search", "output": "30 days", "used": false, "timestamp": "2025-06-01T12:00:01Z"}
]
```

## How to fix
Put the output where the model reads it, ask for a citation of it in the answer, and leave out calls nobody needs.

## Known limits
An output that is used in other words, or only to decide what to do next, shows no value again: that is why severity is
low. Outputs of tools that act (send, write, run, …), of calls that failed, and short ones such as `ok` are not judged,
nor is any output that texts follow which the trace does not carry.
"""

from collections.abc import Iterator, Sequence

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.options import names
from analyzer.profile import Profile
from analyzer.session.accessors import (
    ABSENT,
    REFERENCED,
    STATUS,
    USED,
    LookUp,
    first_given,
    first_present,
    tool_of,
    word_of,
)
from analyzer.session.model import Event
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role
from analyzer.timeline.derivable import is_derivable, is_moment, is_rounded, numbers_in
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.tool_purpose import changes_something, hands_over_to, runs_anything
from analyzer.timeline.tool_words import is_lookup, name_words, writes

__all__ = ["DETECTOR"]

TYPE = "ignoring_tool_outputs"
HIGH = 2
FIX = "Put tool outputs where the model reads them, and leave out calls whose output nobody needs."
WHY = Why(
    "The step after the call was decided without what the tool gave back.",
    "The call was for nothing, and the answer may contradict the evidence.",
    FIX,
)


SHOWN = 10
MOST_ASKED = 20_000  # characters of what was asked that are looked through for numbers
LOW_IMPACT = -4
DERIVED_IMPACT = -12
RULE = "no-value-seen-again"
# What tools give back that only tell whether they did something need not come up again.
_ACTS = frozenset(
    """
    append apply build clear click commit confirm fill goto install log mark navigate note open plan press record
    remember scroll sleep start stop store terminal think todo type undo upsert wait
    """.split()  # noqa: SIM905  # a list of them would be a page
)


def find(timeline: Timeline, options: Options) -> Iterator[FailureCause]:
    """Yield what the evidence says in so many words, then what it implies."""
    marked = [event for event in timeline.output_events if _is_unused(event, first_given)]
    if marked:
        yield _cause(marked)
    unused = _never_seen_again(timeline, options)
    if unused:
        yield _derived(timeline, unused)


def find_recorded(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for all outputs that are marked (critiqor 0.1.4)."""
    marked = [event for event in timeline.output_events if _is_unused(event, first_present)]
    if marked:
        yield _cause(marked)


def _is_unused(event: Event, look_up: LookUp) -> bool:
    if event.status is not None and event.status.lower() == "ignored":
        return True
    if look_up(event, USED) is False or look_up(event, REFERENCED) is False:
        return True
    return word_of(look_up(event, STATUS)) == "ignored"


def _never_seen_again(timeline: Timeline, options: Options) -> list[Call]:
    """Return the calls of tools that look something up, none of whose outputs turned up again; the last of each kind.

    What was asked anew with other words, or is asked again and again, was a search that went on.
    """
    unused = frozenset(timeline.provenance.unused)
    if not unused:
        return []
    tools: dict[str | None, list[Call]] = {}
    for call in timeline.work:
        if call.output_position >= 0 and call.status != "error":
            tools.setdefault(call.tool, []).append(call)
    found: list[Call] = []
    for tool, calls in tools.items():
        if _acts(tool, options) or any(_speaks_for_itself(call, timeline, unused) for call in calls):
            continue
        found += {call.fingerprint: call for call in calls}.values()
    return sorted(found, key=lambda call: call.output_position)


def _acts(tool: str | None, options: Options) -> bool:
    if tool is None or names((*options.side_effect_tools, *options.polling_tools), tool):
        return True
    if is_lookup(tool):
        return False
    by_words = writes(tool) or not _ACTS.isdisjoint(name_words(tool))
    return by_words or changes_something(tool) or runs_anything(tool) or hands_over_to(tool) is not None


def _speaks_for_itself(call: Call, timeline: Timeline, unused: frozenset[int]) -> bool:
    """Return whether an output was seen again, says nothing, or is marked as used or unused."""
    if call.output_position not in unused:
        return True
    event = timeline.events[call.output_position]
    marks = (first_given(event, USED), first_given(event, REFERENCED))
    return any(isinstance(mark, bool) for mark in marks) or _is_unused(event, first_given)


def _derived(timeline: Timeline, unused: Sequence[Call]) -> FailureCause:
    tools = sorted({call.tool for call in unused if call.tool is not None})
    outputs = [timeline.events[call.output_position] for call in unused[:SHOWN]]
    answer = timeline.conversation.answer
    invented = [] if _any_output_used(timeline) else _invented(timeline, unused)
    guessed = bool(invented) and answer is not None
    shown = [timeline.events[answer.position], *outputs] if guessed and answer is not None else outputs
    impact = DERIVED_IMPACT if guessed else LOW_IMPACT
    said = f"Nothing of {_outputs(len(unused))}{_from(tools)} turns up in what the agent did or said afterwards"
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM if guessed else Severity.LOW,
        impact=impact,
        description=f"{said}; its answer states {', '.join(invented[:3])}, which stands nowhere."
        if guessed
        else f"{said}.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        confidence=Confidence.MEDIUM if guessed else Confidence.LOW,
        basis="derived",
        rule=RULE,
        fingerprint=fingerprint(TYPE, "derived", tools),
        **shown_by(shown),
    )


def _invented(timeline: Timeline, unused: Sequence[Call]) -> list[str]:
    """Return numbers of the answer that nobody had told and that don't follow from any that was told."""
    said = [token for token in timeline.provenance.invented if len(token) > 1 and numbers_in((token,))]
    if not said:
        return []
    vocabulary = timeline.vocabulary
    results = (vocabulary.text_in(call.result) for call in unused if call.result is not ABSENT)
    told = numbers_in(set[str]().union(*map(vocabulary.of, results)))
    if not told or any(map(is_moment, told)):
        return []
    if any(is_rounded(float(token), told) for token in said):
        return []
    known = [*told, *numbers_in(_asked(timeline)), float(len(unused))]
    return [token for token in said if not is_derivable(float(token), known)]


def _asked(timeline: Timeline) -> set[str]:
    """Return the tokens of what users said and tools were asked, in that order, up to a length."""
    vocabulary = timeline.vocabulary
    texts = [one.text for one in timeline.conversation.by(Role.USER)]
    texts += (vocabulary.text_in(call.arguments) for call in timeline.work if call.arguments is not ABSENT)
    found: set[str] = set()
    room = MOST_ASKED
    for text in texts:
        found |= vocabulary.of(text[:room])
        room -= len(text) + 1
        if room <= 0:
            break
    return found


def _any_output_used(timeline: Timeline) -> bool:
    """Return whether the run took anything from an output, or from one that nobody can judge."""
    unused = frozenset(timeline.provenance.unused)
    return any(
        call.output_position not in unused
        for call in timeline.work
        if call.output_position >= 0 and call.status != "error"
    )


def _outputs(count: int) -> str:
    return "the tool output" if count == 1 else f"{count} tool outputs"


def _cause(unused: Sequence[Event]) -> FailureCause:
    count = len(unused)
    impact = -min(30, 10 + 7 * count)
    tools = sorted({tool for event in unused if (tool := tool_of(event)) is not None})
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH if count >= HIGH else Severity.MEDIUM,
        impact=impact,
        description=f"{count} tool output{'' if count == 1 else 's'}{_from(tools)} went unused.",
        root_cause=WHY.root_cause(impact),
        recommendation=FIX,
        fingerprint=fingerprint(TYPE, tools),
        **shown_by(unused),
    )


def _from(tools: list[str]) -> str:
    return f" of {', '.join(tools)}" if tools else ""


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="What a tool gave back was not used",
    since="0.1.0",
    needs=frozenset({Fact.TOOL_CALLS}),
    steps=("tool_call", "tool_output", "decision_skipped_output", "unsupported_agent_step"),
    find={Profile.STANDARD: find, Profile.CRITIQOR_V1: find_recorded},
)
