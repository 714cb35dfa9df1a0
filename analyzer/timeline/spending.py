"""What a run spent as critiqor 0.1.4 counts it: its tokens, and the calls it made twice."""

from collections.abc import Iterator

from analyzer.session.accessors import ABSENT, ARGUMENTS, first_present, label_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, EventKind
from analyzer.timeline.index import Timeline
from analyzer.timeline.tokens import recorded_total

__all__ = ["recorded_duplicates", "recorded_tokens", "spending_events"]

_SPENDING = frozenset((EventKind.TOKEN_USAGE, EventKind.TOOL_CALL))


def recorded_tokens(timeline: Timeline) -> int:
    """Return the sum of the totals that token events report."""
    return sum(map(recorded_total, timeline.of_kind(EventKind.TOKEN_USAGE)))


def recorded_duplicates(timeline: Timeline) -> int:
    """Return how many calls there are beyond one of each label: tool, name or skill, and arguments unless empty."""
    starts = [timeline.events[call.position] for call in timeline.calls]
    return len(starts) - len({_label(start) for start in starts})


def spending_events(timeline: Timeline) -> Iterator[Event]:
    """Yield the token events and tool calls, in order."""
    return (event for event in timeline.events if event.event in _SPENDING)


def _label(start: Event) -> tuple[str, bytes]:
    arguments = first_present(start, ARGUMENTS)
    return label_of(start), canonical(arguments) if arguments is not ABSENT and arguments else b""
