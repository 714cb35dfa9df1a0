"""Which calls and which code look like what a run was lost by?"""

import re
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final, NamedTuple

from analyzer.causality.blame import Blame
from analyzer.causality.course import Course, is_code
from analyzer.causality.effects import values_of
from analyzer.causality.marks import Marks, fading, first
from analyzer.causality.moves import Move
from analyzer.causality.scene import Scene
from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT
from analyzer.timeline.call import Call
from analyzer.timeline.error_classes import ErrorClass, classify
from analyzer.timeline.tool_purpose import hands_over_to

__all__ = [
    "announced",
    "came_back_empty",
    "code_failed",
    "code_failed_once",
    "denied",
    "failed_for_good",
    "first_code",
    "gave_up",
    "made_up",
]

_MADE_UP = pattern(
    r"\b(?:simulat\w+|hypothetical\w*|placeholder\w*|assum(?:e|es|ed|ing|ption|ptions)\b|mock\w*|dummy|fictional"
    r"|(?:sample|example|fake) data|replace with|your_\w+|made.up)\b",
    re.IGNORECASE,
)
_NEGATION = pattern(r"\b(?:non|not|no|cannot|can't|isn't|never|un)\b-?", re.IGNORECASE)
_OWN_FAULTS = frozenset((None, ErrorClass.ARGUMENTS, ErrorClass.UNKNOWN_TOOL))
_SAME_WORDS: Final = 2
_LOOKED_AT: Final = 8  # failed calls that are compared with all that was said before


def failed_for_good(scene: Scene) -> Marks:
    """Find where the first failed call began that nothing mended; what lies in the surroundings counts for less."""
    for move in scene.course.own:
        for call in move.calls:
            if _is_lost(call, scene.blame):
                root = scene.blame.root_of(move.index)
                is_own = root != move.index or classify(call.error) in _OWN_FAULTS
                yield root, 1.0 if is_own else 0.3
                return


def announced(scene: Scene) -> Marks:
    """Find words, before the first failed call that nothing mended, that named what it is about."""
    course = scene.course
    failed = next((call for move in course.own for call in move.calls if _is_lost(call, scene.blame)), None)
    if failed is None:
        return
    values = values_of(failed, course.timeline.vocabulary)
    words = (move for move in course.own if move.text and not move.calls and move.position < failed.position)
    yield from first(move for move in words if course.told_among(values, move))


def denied(scene: Scene) -> Marks:
    """Find words that stated of a thing what the error of a later call about it denies."""
    course = scene.course
    lost = ((move, call) for move in course.own for call in move.calls if _is_lost(call, scene.blame))
    denials = [_denial(move, call, course) for move, call in islice(lost, _LOOKED_AT)]
    last = max((one.place for one in denials if one.words), default=0)
    for move in course.own:
        if move.index >= last:
            return
        told = course.told_in(move) if move.text else set[str]()
        if any(one.contradicts(move, told) for one in denials):
            yield move.index, 1.0
            return


class _Denial(NamedTuple):
    """What the error of a lost call denies."""

    place: int
    words: AbstractSet[str]
    about: AbstractSet[str]

    def contradicts(self, move: Move, told: set[str]) -> bool:
        """Return whether a move before had stated it."""
        same = len(self.words & told) >= _SAME_WORDS
        return same and move.index < self.place and not self.about.isdisjoint(told)


def _denial(move: Move, call: Call, course: Course) -> _Denial:
    error = call.error or ""
    denied = _NEGATION.sub(" ", error)
    words = course.telling_of(denied) if denied != error else frozenset[str]()
    return _Denial(move.index, words, values_of(call, course.timeline.vocabulary))


def _is_lost(call: Call, blame: Blame) -> bool:
    return call.status == "error" and not is_code(call) and not blame.recovered(call)


def code_failed(scene: Scene) -> Marks:
    """Find code that failed in a run that came to no answer."""
    course = scene.course
    if not course.concluded:
        yield from fading(move for move in course.own if _ran_badly(move))


def code_failed_once(scene: Scene) -> Marks:
    """Find code that failed in a run that came to an answer all the same."""
    course = scene.course
    if course.concluded:
        yield from fading(move for move in course.own if _ran_badly(move))


def _ran_badly(move: Move) -> bool:
    return any(call.status == "error" and is_code(call) for call in move.calls)


def first_code(scene: Scene) -> Marks:
    """Find the first code that was written."""
    course = scene.course
    if not course.helped and not course.is_dialogue:
        yield from first(move for move in course.own if "```" in move.text or any(map(is_code, move.calls)))


def gave_up(scene: Scene) -> Marks:
    """Find the first time that an agent hands a user over to people."""
    course = scene.course
    if course.is_dialogue:
        yield from first(
            move for move in course.own if any(hands_over_to(call.tool or "") == "" for call in move.calls)
        )


def came_back_empty(scene: Scene) -> Marks:
    """Find the first call that came back with nothing, and nothing later made up for it."""
    course = scene.course
    if not course.is_dialogue:
        yield from first(move for move in course.own if move.fruitless and not _made_good(move, scene.blame))


def _made_good(move: Move, blame: Blame) -> bool:
    """Return whether later calls brought what these did not; what code was to bring is known to nobody."""
    return all(blame.recovered(call) and not is_code(call) for call in move.calls)


def made_up(scene: Scene) -> Marks:
    """Find moves that work with made-up or assumed data."""
    course = scene.course
    if not course.is_dialogue:
        yield from fading(move for move in course.acts if _MADE_UP.search(_written(move, course)))


def _written(move: Move, course: Course) -> str:
    text_in = course.timeline.vocabulary.text_in
    arguments = (text_in(call.arguments) for call in move.calls if call.arguments is not ABSENT)
    return "\n".join((move.text, *arguments))
