"""Which step was the first decisive one? Ranked candidates for each failure, and one root for the run.

A move is suspect for three reasons: failures trace back to it (`blame`), the more and the graver the heavier, for that
is what would be gone without it; it comes before what else went wrong; it shows signs (`signs`). A failure that was
recovered from, and one that is no worry, counts for little or nothing. A run in which nothing grave was found, and of
which nobody says that it failed, has no root.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from analyzer.causality.explain import calls_of, step_of
from analyzer.causality.moves import Move
from analyzer.causality.scene import Failure, Scene
from analyzer.causality.signs import Found, signs_of
from analyzer.cause import Confidence, Severity
from analyzer.session.accessors import payload_of
from analyzer.timeline.ending import RunStatus

__all__ = ["MOST_CANDIDATES", "Candidate", "FailureRoots", "RunRoots", "find_roots"]

MOST_CANDIDATES: Final = 5
"""Candidates told of a run; of a failure three."""

_OF_A_FAILURE: Final = 3
_MOST_NAMED: Final = 12  # failures and steps of a path that are named
_GRAVITY: Mapping[Severity, float] = {
    Severity.LOW: 0.1,
    Severity.MEDIUM: 0.4,
    Severity.HIGH: 0.8,
    Severity.CRITICAL: 1.2,
}
_TRUST: Mapping[Confidence, float] = {Confidence.LOW: 0.3, Confidence.MEDIUM: 0.7, Confidence.HIGH: 1.0}
_SLIGHT: Final = 0.1  # weight up to which a failure is none that others could follow from
_RECOVERED: Final = 0.1  # of a failure's weight that is left when a later call mended it
_ON_THE_WAY: Final = 0.5  # of a failure's weight, for moves between the root and the failure
_HINTS: Final = 0.4  # of the weight of signs, in a run of which nobody says that it failed
_SURE, _LIKELY = 1.0, 0.5  # points from which on a candidate is named with high or medium confidence


class Candidate(Struct, frozen=True, kw_only=True):
    """A move that may be the first decisive step."""

    event_id: str
    """The event by which the move is known: where it was decided."""
    agent: str | None
    step: str
    """What happened there, in words, with the time."""
    score: float
    """Points: what traces back to it and what it shows; only their order means something."""
    confidence: Confidence
    signs: tuple[str, ...]
    """Names of signs that it shows, `failures` first where failures trace back to it."""
    failures: tuple[str, ...]
    """The failure nodes that would be gone without it, the first twelve of them."""
    failure_count: int
    path: tuple[str, ...]
    """The way from it to the first of these failures: ids of events, the failure's node last; itself without one."""
    explanation: str
    """Why it is suspect, in words."""


class FailureRoots(Struct, frozen=True):
    """Where one failure may have begun, the likeliest first."""

    failure: str
    candidates: tuple[Candidate, ...]


class RunRoots(Struct, frozen=True):
    """Where the run may have been lost, the likeliest first, and the same for each failure."""

    primary: Candidate | None = None
    """The one root of the run, the first of its candidates."""
    candidates: tuple[Candidate, ...] = ()
    failures: tuple[FailureRoots, ...] = ()


class _Suspect:
    """What is known against one event."""

    def __init__(self, position: int, move: Move | None) -> None:
        self.position = position
        self.move = move
        self.weights: list[float] = []
        self.stands = False
        """Some failure charged to it was never mended."""
        self.failures: list[str] = []
        self.path: tuple[int, ...] = (position,)
        self.signs: list[Found] = []
        self.points = 0.0

    @property
    def is_cleared(self) -> bool:
        """Whether all that speaks against it was mended."""
        return not self.signs and not self.stands

    def settle(self, order: int, hints: float) -> None:
        """Add up: the gravest failure counts in full, each further one less; what came first counts most.

        `hints` is the share with which signs count.
        """
        weights = sorted(self.weights, reverse=True)
        owed = sum(weight / place for place, weight in enumerate(weights, 1)) / (1 + order)
        self.points = round(owed + hints * sum(found.points for found in self.signs), 6)


def find_roots(scene: Scene) -> RunRoots:
    """Return the candidates of a run and of each of its failures; linear in what the run holds."""
    grave = [failure for failure in scene.failures if not failure.cause.marks and failure.cause.evidence]
    is_lost = scene.timeline.status is RunStatus.FAILED
    if not is_lost and all(failure.cause.severity is Severity.LOW for failure in grave):
        return RunRoots()
    return _Inquiry(scene, grave, is_lost=is_lost).result()


class _Inquiry:
    """Looks for the decisive step of one run."""

    def __init__(self, scene: Scene, failures: Sequence[Failure], *, is_lost: bool) -> None:
        self._scene = scene
        self._timeline = scene.timeline
        self._failures = failures
        self._course = scene.course
        self._blame = scene.blame
        self._is_lost = is_lost
        self._calls = calls_of(scene.timeline)
        self._suspects: dict[int, _Suspect] = {}
        self._chains: list[tuple[int, ...]] = []

    def result(self) -> RunRoots:
        """Return what was found."""
        for failure in self._failures:
            self._accuse(failure)
        for index, signs in signs_of(self._scene).items():
            shown = [found for found in signs if self._is_lost or found.sign.is_fault]
            if shown:
                move = self._course.moves.all[index]
                self._suspect(move.position, move).signs = shown
        orders = self._orders()
        for position, suspect in self._suspects.items():
            suspect.settle(orders.get(position, 0), 1.0 if self._is_lost else _HINTS)
        ranked = self._ranked(suspect for suspect in self._suspects.values() if not suspect.is_cleared)
        by_failure = [
            FailureRoots(
                failure.node, self._told(self._ranked(self._suspects[place] for place in chain)[:_OF_A_FAILURE])
            )
            for failure, chain in zip(self._failures, self._chains, strict=True)
        ]
        candidates = self._told(ranked[:MOST_CANDIDATES])
        return RunRoots(next(iter(candidates), None), candidates, tuple(by_failure))

    def _orders(self) -> dict[int, int]:
        """Return by place how many graver suspects came before; what stands last, and led to nothing, counts twice."""
        heavy = (place for place, suspect in self._suspects.items() if max(suspect.weights, default=0) > _SLIGHT)
        orders = {place: order for order, place in enumerate(sorted(heavy))}
        last = self._course.moves.positions[-1:]
        return {place: order * (1 + (place >= last[0] if last else 0)) for place, order in orders.items()}

    def _accuse(self, failure: Failure) -> None:
        """Charge a failure to the move that it traces back to, and in part to those on the way."""
        evidence = self._timeline.position_of[failure.cause.evidence[0]]
        move = self._move_of(evidence)
        way = [] if move is None else self._blame.way_back(move.index, _MOST_NAMED)
        places = [self._course.moves.all[index].position for index in way] or [evidence]
        weight = _GRAVITY[failure.cause.severity] * _TRUST[failure.cause.confidence]
        was_mended = move is not None and self._was_mended(move)
        if was_mended:
            weight *= _RECOVERED
        for place in places[:1] if len(places) == 1 else (places[0], places[-1]):
            suspect = self._suspect(place, self._move_of(place))
            suspect.stands = suspect.stands or not was_mended
            is_root = place == places[-1]
            suspect.weights.append(weight if is_root else weight * _ON_THE_WAY)
            if is_root and not suspect.failures:
                suspect.path = (*dict.fromkeys((*reversed(places), *_call_of(evidence, move), evidence)),)
            if is_root:
                suspect.failures.append(failure.node)
        self._chains.append(tuple(dict.fromkeys((places[-1], places[0]))))

    def _was_mended(self, move: Move) -> bool:
        failed = [call for call in move.calls if call.status == "error"]
        return bool(failed) and all(map(self._blame.recovered, failed))

    def _move_of(self, position: int) -> Move | None:
        """Return the move that an event is of: its own, or that of the call which it starts or answers."""
        return self._course.move_at.get(position)

    def _suspect(self, position: int, move: Move | None) -> _Suspect:
        found = self._suspects.get(position)
        if found is None:
            found = self._suspects[position] = _Suspect(position, move)
        return found

    def _ranked(self, suspects: Iterable[_Suspect]) -> list[_Suspect]:
        return sorted(suspects, key=lambda suspect: (-suspect.points, suspect.position))

    def _told(self, suspects: Sequence[_Suspect]) -> tuple[Candidate, ...]:
        return tuple(map(self._candidate, suspects))

    def _candidate(self, suspect: _Suspect) -> Candidate:
        events = self._timeline.events
        event = events[suspect.position]
        agent = suspect.move.agent if suspect.move is not None else payload_of(event).get("agent")
        return Candidate(
            event_id=event.event_id,
            agent=agent if isinstance(agent, str) else None,
            step=step_of(event, self._calls),
            score=round(suspect.points, 3),
            confidence=_confidence(suspect),
            signs=(*(("failures",) if suspect.failures else ()), *(found.sign.name for found in suspect.signs)),
            failures=tuple(suspect.failures[:_MOST_NAMED]),
            failure_count=len(suspect.failures),
            path=(*(events[place].event_id for place in suspect.path), *suspect.failures[:1]),
            explanation=_why(suspect),
        )


def _call_of(output: int, move: Move | None) -> list[int]:
    """Return where the call of a move started that an output answers, if it is one."""
    return [] if move is None else [call.position for call in move.calls if call.output_position == output]


def _confidence(suspect: _Suspect) -> Confidence:
    if suspect.points >= _SURE and suspect.failures:
        return Confidence.HIGH
    return Confidence.MEDIUM if suspect.points >= _LIKELY else Confidence.LOW


def _why(suspect: _Suspect) -> str:
    reasons = [f"it {found.sign.words}" for found in suspect.signs]
    count = len(suspect.failures)
    if count:
        reasons.insert(
            0, "a failure of the run traces back to it" if count == 1 else f"{count} failures trace back to it"
        )
    return "; ".join(reasons)
