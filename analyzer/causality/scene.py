"""What link rules look at: a run, what went wrong in it, and which failure owes to what."""

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from analyzer.causality.blame import Blame
from analyzer.causality.course import Course, course_of
from analyzer.causality.moves import Move
from analyzer.cause import Confidence, FailureCause
from analyzer.timeline.index import Timeline

__all__ = ["Failure", "Link", "Scene"]


class Failure(Struct, frozen=True):
    """A failure cause as a node of the graph."""

    node: str
    cause: FailureCause


class Link(Struct, frozen=True, gc=False):
    """Source and target, ids of events or of failure nodes; what the rule says of this link, where it says more."""

    source: str
    target: str
    confidence: Confidence | None = None
    rule: str | None = None


class Scene(Struct, frozen=True, dict=True):
    """A run and its failures; what else rules ask for is looked up once, when it is asked for."""

    timeline: Timeline
    failures: Sequence[Failure]

    @cached_property
    def course(self) -> Course:
        """The course that the run took."""
        return course_of(self.timeline)

    @cached_property
    def blame(self) -> Blame:
        """Which failed call owes its failure to what."""
        return Blame(self.course, self._false_words())

    def _false_words(self) -> list[Move]:
        """Return, in order, what was said that a failure is about, no call having failed with it."""
        weighty = (failure.cause for failure in self.failures if failure.cause.evidence and not failure.cause.marks)
        places = {self.timeline.position_of.get(cause.evidence[0], -1) for cause in weighty}
        moves = (self.course.move_at.get(place) for place in sorted(places))
        return [move for move in moves if move is not None and move.text and not move.failed]
