"""The agent worked with data it had made up: a placeholder, an example, an assumption instead of a fact.

## What it does
Reports code and commands that ran with a placeholder in them (`YOUR_API_KEY`, `2206.XXXX`, `# hypothetical path`) and
messages of an agent that go on with `simulated`, `hypothetical` or `sample` data, or `assume` that something was
obtained. Not where the user or the instructions speak of examples, tests, simulations or of writing software. Severity
high, confidence medium; derived.

## Why is this bad
What is computed from invented numbers looks like a result. Nobody who reads the answer sees that its basis was made up.

## Example
```json
[
  {"event_type": "message_received", "payload": {"role": "user", "text": "Which country sent the fewest athletes?"}},
  {"event_type": "message_sent", "payload": {"agent": "analyst",
    "text": "The list is missing, so let's create a simulated dataset and count its rows."}}
]
```

## How to fix
Tell the agent to stop and say what it lacks. Give it the tool, the key or the file that it made up.

## Known limits
English phrases only. An agent that invents data without saying so is not seen.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from analyzer.cause import Confidence, FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import mentions, pattern
from analyzer.profile import Profile
from analyzer.session.accessors import ABSENT
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.conversation import Role
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import plain, quoted
from analyzer.timeline.tool_purpose import runs_anything

__all__ = ["DETECTOR"]

TYPE = "invented_data"
IMPACT = -20
MOST_TEXT = 20_000
BEFORE = 25  # characters in which a denial is looked for
_ASKED = pattern(
    r"\b(?:sample|example|mock|dummy|fake|synthetic|simulat\w+|placeholder|hypothe\w+|fiction\w*|imagin\w+|made[- ]up"
    r"|repositor\w+|codebase|refactor\w*|implement\w*|unit tests?|pull request|bug ?fix\w*|endpoint|component"
    r"|write (?:a|the|an?other) (?:function|script|program|class|test)"
    r"|template|test data|assum\w+|scenario|role[- ]?play|demo\w*)\b",
    re.IGNORECASE,
)
_KIND = (
    r"(?:simulated|hypothetical|placeholder|dummy|mock(?:ed)?|fake|fictional|made[- ]up|synthetic|sample|example"
    r"|assumed)"
)
_THING = (
    r"(?:data ?sets?|data|values?|numbers?|figures?|records?|results?|responses?|paths?|files?|urls?|links?|ids?|keys?"
    r"|table|dates?|prices?|list|entries|analysis|addresses|content)"
)
_STEMS = (
    *("simulat", "hypothe", "placeholder", "dummy", "mock", "fake", "fiction", "made-up", "made up", "synthetic"),
    *("sample", "example", "assum", "suppose", "pretend", "consider that"),
)
_MAKE = r"\b(?:creat|us|generat|assum|provid|work|proceed|simulat|consider|mak|tak|compil)"
_SAID = pattern(
    rf"\b(?:let's|let us|let me|i|i'll|i've|i will|i have|we|we'll|we can)\b[^.\n]{{0,60}}{_MAKE}\w*\b[^.\n]{{0,50}}"
    rf"\b{_KIND}\b[^.\n]{{0,40}}\b{_THING}\b"
    rf"|{_MAKE}(?:e|ing)\b[^.\n]{{0,50}}\b{_KIND}\b[^.\n]{{0,40}}\b{_THING}\b"
    r"|\b(?:let's|let us|we (?:can|could|will|must|should)|i(?:'ll| will)) (?:hypothetically )?"
    r"(?:assume|suppose|pretend|consider that)[^.\n]{0,60}\b(?:we have|i have|available|obtained|downloaded|access)"
    r"|\bassuming (?:that )?(?:we|i) (?:have|had|obtained|downloaded)\b"
    rf"|\bthe following {_KIND}\b[^.\n]{{0,60}}",
    re.IGNORECASE,
)
_DENIES = pattern(
    r"\b(?:not|never|cannot|avoid|without|instead of|rather than|no longer|replace|if)\b|n't\b|\?", re.IGNORECASE
)
_RAN = pattern(
    r"['\"<{]?\bYOUR[_ -](?:[A-Z0-9]{1,20}[_ -]){0,3}(?:KEY|TOKEN|ID|SECRET|PASSWORD|URL|PATH|NAME)\b"
    r"|['\"]your[_ -](?:api[_ -])?(?:key|token|secret|password)(?:[_ -]here)?['\"]|<your[_ -][\w -]{2,30}>"
    r"|['\"][\w./:-]{0,60}X{4,}[\w./:-]{0,20}['\"]|['\"](?:path/to|/path/to)/[^'\"]{1,80}['\"]"
    rf"|#[^\n]{{0,60}}\b(?:{_KIND}|assuming)\b[^\n]{{0,40}}\b{_THING}\b"
    rf"|\b(?:sample|dummy|mock|fake|placeholder|hypothetical)_{_THING}\s*=",
    re.IGNORECASE,
)
_RAN_SIGNS = ("your", "path/to/", "#", "sample_", "dummy_", "mock_", "fake_", "placeholder_", "hypothet")
"""What `_RAN` finds holds one of these, or `_HIDDEN` in quotation marks."""
_HIDDEN = "xxxx"
FIX = "Tell the agent to stop and say what it lacks, and give it the key, file or tool that it made up."
WHY = Why("The agent lacked something and made it up.", "The result rests on invented data and does not say so.", FIX)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for what was made up, the first first."""
    found = sorted({**dict(_said(timeline)), **dict(_ran(timeline))}.items())
    if found and not _wanted(timeline):
        yield _cause(timeline, found)


def _wanted(timeline: Timeline) -> bool:
    """Return whether somebody who sets the task speaks of examples, simulations or assumptions."""
    asked = timeline.conversation.by(Role.USER, Role.SYSTEM, Role.CALLER)
    return any(_ASKED.search(plain(one.text[:MOST_TEXT])) for one in asked)


def _said(timeline: Timeline) -> Iterator[tuple[int, str]]:
    for one in timeline.assertions:
        for sentence in one.sentences if one.mentions(_STEMS) else ():
            said = _SAID.search(sentence)
            if said is not None and _DENIES.search(_clause(sentence, said)) is None:
                yield one.said.position, quoted(sentence)
                break


def _clause(sentence: str, said: re.Match[str]) -> str:
    """Return what was found, or its last part after a comma, with the few words before it."""
    before, _, last = said[0].rpartition(", ")
    return last if before else sentence[: said.start()].rpartition(",")[2][-BEFORE:] + last


def _ran(timeline: Timeline) -> Iterator[tuple[int, str]]:
    for call in timeline.work:
        if call.tool is None or call.arguments is ABSENT or not runs_anything(call.tool):
            continue
        for text in _texts(call.arguments):
            placeholder = _placeholder(text[:MOST_TEXT])
            if placeholder is not None:
                yield call.position, f"{call.tool} ran {quoted(placeholder[0])}"
                break


def _placeholder(text: str) -> re.Match[str] | None:
    is_quoted = '"' in text or "'" in text
    signs = (*_RAN_SIGNS, _HIDDEN) if is_quoted else _RAN_SIGNS
    return _RAN.search(text) if mentions(text, signs) else None


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of arguments, two levels deep."""
    if isinstance(value, str):
        yield value
    for one in value.values() if is_object(value) else value if is_list(value) else ():
        if isinstance(one, str):
            yield one
        elif is_list(one):
            yield from (text for item in one if is_object(item) for text in item.values() if isinstance(text, str))


def _cause(timeline: Timeline, found: Sequence[tuple[int, str]]) -> FailureCause:
    others = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=Severity.HIGH,
        impact=IMPACT,
        description=f"The agent went on with data that it had made up: {found[0][1]}{others}.",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        confidence=Confidence.MEDIUM,
        basis="derived",
        rule="placeholder-instead-of-data",
        fingerprint=fingerprint(TYPE),
        **shown_by(timeline.events[position] for position, _ in found),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="The agent worked with data that it had made up",
    since="0.1.0",
    needs=frozenset(),
    steps=("something_missing", "data_invented", "result_without_basis"),
    find={Profile.STANDARD: find},
)
