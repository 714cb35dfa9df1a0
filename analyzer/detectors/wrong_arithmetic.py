"""The agent wrote down a calculation whose result is wrong.

## What it does
Checks calculations that are written out in messages of an agent (`12 + 5 = 18`): plus, minus, times and divided by,
with the usual precedence, to the last digit that is written. Severity medium, confidence high; derived.

## Why is this bad
Models guess numbers. What is built on the wrong one is wrong as well, and reads as if somebody had calculated.

## Example
```json
[
  {"event_type": "message_sent", "payload": {"text": "The parts cost 19.50 + 5.25 + 3.00 = 29.75 in all."}}
]
```

## How to fix
Give the agent a calculator, and tell it to use it for every number it reports.

## Known limits
Only what is written in figures, on one line, with its result. Powers, roots, percentages and brackets are not followed.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector, Dimension, Options, Why, fingerprint, shown_by
from analyzer.pattern import pattern
from analyzer.profile import Profile
from analyzer.timeline.conversation import Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.sentences import quoted

__all__ = ["DETECTOR"]

TYPE = "wrong_arithmetic"
IMPACT = -14
_AMOUNT = r"[$\u20ac\u00a3]?\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,8})?"
_SIGN = r"(?:\s?[+*/\u00d7\u00f7\u22c5\u00b7]\s?|\s[-\u2212\u2013x]\s)"
_CALCULATION = pattern(
    rf"(?<![\w.,:+*/\u00d7\u00f7\u22c5\u00b7^\u221a=\u2212)\]}}-])({_AMOUNT}(?:{_SIGN}{_AMOUNT}){{1,20}})\s?=\s?({_AMOUNT})"
    r"(?![\w%^]|[.,:]\d|\s?[+*/\u00d7\u00f7\u22c5\u00b7(^]|\s[-\u2212\u2013x]\s?\d)"
)
_OPEN_BEFORE = pattern(
    r"(?:[+*/\u00d7\u00f7\u22c5\u00b7^\u221a\u2212=%-]|\b(?:of|times|over|log|ln|sin|cos|sqrt|mod|plus|minus))\s*$"
)
_CURRENCIES = frozenset("$\u20ac\u00a3")
_PARTS = pattern(rf"({_AMOUNT})|([+*/\u00d7\u00f7\u22c5\u00b7\u2212\u2013x-])")
_NO_CLAIM = pattern(
    r"\?|\b(?:not|wrong|incorrect|error|instead|if|false|suppose|mod|base|puzzle)\b|n't\b|\u2260", re.IGNORECASE
)
_MULTIPLIES = frozenset("*\u00d7\u22c5\u00b7x")
_DIVIDES = frozenset("/\u00f7")
FIX = "Give the agent a calculator, and tell it to use it for every number it reports."
WHY = Why("The model guessed the result of a calculation.", "What is built on the number is wrong as well.", FIX)


def find(timeline: Timeline, _: Options) -> Iterator[FailureCause]:
    """Yield one cause for all calculations that are wrong."""
    wrong = [
        (one.said, *found)
        for one in timeline.assertions
        if "=" in one.text
        for line in one.sentences
        for found in _wrong(line)
    ]
    if wrong:
        yield _cause(timeline, wrong)


def _wrong(line: str) -> Iterator[tuple[str, str]]:
    """Yield the calculations of a sentence whose result is another, with that."""
    if "=" not in line:
        return
    for found in _CALCULATION.finditer(line):
        if _NO_CLAIM.search(line):
            return
        if _OPEN_BEFORE.search(line[: found.start()]) or len(_CURRENCIES.intersection(found[0])) > 1:
            continue
        value, said = _value(found[1]), _number(found[2])
        if value is not None and said is not None and not _equal(value, said):
            yield found[0], f"{value.normalize():f}" if value == value.to_integral() else f"{value:.4f}"


def _value(text: str) -> Decimal | None:
    """Return what a calculation comes to, products first."""
    terms: list[Decimal] = []
    sign = "+"
    try:
        for amount, found in _PARTS.findall(text):
            if not amount:
                sign = found
                continue
            number = _number(amount)
            if number is None:
                return None
            _take(terms, sign, number)
        return sum(terms, Decimal(0))
    except (InvalidOperation, ZeroDivisionError):
        return None


def _take(terms: list[Decimal], sign: str, number: Decimal) -> None:
    if sign in _MULTIPLIES:
        terms[-1] *= number
    elif sign in _DIVIDES:
        terms[-1] /= number
    else:
        terms.append(number if sign == "+" else -number)


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(re.sub(r"[^\d.]", "", text))
    except InvalidOperation:
        return None


def _equal(value: Decimal, said: Decimal) -> bool:
    """Return whether a result is right to its last digit, rounded or cut off."""
    exponent = said.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    return abs(value - said) < step or abs(value) == abs(said)


def _cause(timeline: Timeline, wrong: list[tuple[Utterance, str, str]]) -> FailureCause:
    said, calculation, value = wrong[0]
    others = f" {len(wrong) - 1} more are wrong too." if len(wrong) > 1 else ""
    return FailureCause(
        type=TYPE,
        severity=Severity.MEDIUM,
        impact=IMPACT,
        description=f"The agent wrote {quoted(calculation)}; it is {value}.{others}",
        root_cause=WHY.root_cause(IMPACT),
        recommendation=FIX,
        basis="derived",
        rule="calculated-again",
        fingerprint=fingerprint(TYPE, said.agent),
        **shown_by(timeline.events[place] for place in dict.fromkeys(one.position for one, _, _ in wrong)),
    )


DETECTOR = Detector(
    failure_type=TYPE,
    dimension=Dimension.TOOL_OUTPUT_UTILIZATION,
    summary="A calculation that the agent wrote down is wrong",
    since="0.1.0",
    needs=frozenset(),
    steps=("calculation", "guessed_result", "wrong_number"),
    find={Profile.STANDARD: find},
)
