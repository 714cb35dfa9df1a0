"""Which rules tie one thing of a run to another: the table of link rules."""

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from analyzer.causality import dependence, evidence, structure
from analyzer.causality.graph import Relation
from analyzer.causality.scene import Link, Scene
from analyzer.cause import Confidence
from analyzer.profile import Profile

__all__ = ["LINKS", "LinkRule"]


class LinkRule(Struct, frozen=True):
    """One way in which things hang together: which kind of thing leads to which, and what must hold between them."""

    relation: Relation
    name: str
    cause: str
    """What leads, in words."""
    effect: str
    """What it leads to."""
    holds: str
    """What must hold between them."""
    find: Callable[[Scene], Iterator[Link]]
    """Yields the links in order; the source is never later than the target (but for the recorded rules)."""
    confidence: Confidence = Confidence.HIGH
    """That of its links which do not say another."""


_MEDIUM, _LOW = Confidence.MEDIUM, Confidence.LOW

LINKS: Mapping[Profile, tuple[LinkRule, ...]] = {
    Profile.STANDARD: (
        LinkRule("precedes", "next-in-time", "event", "event", "nothing happened between them", structure.in_order),
        LinkRule("produces", "call-of-answer", "model answer", "call", "it asks for the call", structure.asked_for),
        LinkRule("produces", "output-of-call", "call", "output", "they share an id or a place", structure.outputs),
        LinkRule("informs", "value-used", "output", "later event", "it holds values of the output", dependence.uses),
        LinkRule(
            "informs",
            "acted-on",
            "words of an agent",
            "failed call",
            "it is about what they told wrongly, or an argument was made up in them",
            dependence.acted_on,
            _MEDIUM,
        ),
        LinkRule("retries", "failed-then-again", "failed call", "call", "equal, the next", structure.failed_then_again),
        LinkRule("retries", "retry-event", "call", "retry", "it names it or stands next to it", structure.retries),
        LinkRule("retries", "failed-before", "failed call", "call", "one tool, no success", dependence.failed_before),
        LinkRule("repeats", "same-call-again", "call", "call", "equal, and it brought no news", structure.repeats),
        LinkRule("contains", "span-inside", "span", "span", "one is the parent of the other", structure.spans_inside),
        LinkRule("contains", "event-inside", "agent, turn", "event", "it was open then", structure.events_inside),
        LinkRule(
            "delegates",
            "handed-over",
            "words, call",
            "first event of an agent",
            "they hand the work over to that agent",
            structure.handed_over,
            _MEDIUM,
        ),
        LinkRule(
            "blocks",
            "changed-before",
            "call that changed something",
            "failed call",
            "another tool, the same id or number in the arguments",
            dependence.blocked,
            _MEDIUM,
        ),
        LinkRule(
            "exhausts",
            "largest-output",
            "output",
            "full context, answer cut off",
            "the largest since the last time",
            dependence.exhausted,
            _LOW,
        ),
        LinkRule("causes", "evidence", "event", "failure", "the failure names it as evidence", evidence.evidence),
        LinkRule("reinforces", "next-evidence", "event", "event", "next in time of one failure", evidence.in_time),
    ),
    Profile.CRITIQOR_V1: (
        LinkRule("precedes", "next-in-list", "event", "event", "next in the list", evidence.listed),
        LinkRule("causes", "evidence", "event", "failure", "the failure names it as evidence", evidence.named),
        LinkRule("reinforces", "next-evidence", "event", "event", "next in the evidence", evidence.pairs),
    ),
}
"""The rules of each profile, in the order in which their edges are listed."""
