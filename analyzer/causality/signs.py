"""Which moves look like the one by which the run was lost? The table of signs, and what each is worth.

A sign is a reason to look at a move, not a proof. The weights are few and round; how far they carry is measured on
labelled runs (docs/accuracy.md). Which signs can be seen depends on the run: where users come back, they may have asked
for the wrong thing; where agents write code, the first code that fails is where most runs turn.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final, TypeAlias

from analyzer.causality.blame import Blame
from analyzer.causality.course import is_code, telling_of
from analyzer.causality.effects import changes_world, values_of
from analyzer.causality.moves import Move
from analyzer.causality.origin import answer_origins
from analyzer.causality.scene import Scene
from analyzer.session.accessors import ABSENT
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role
from analyzer.timeline.error_classes import ErrorClass, classify
from analyzer.timeline.telling import text_in

__all__ = ["SIGNS", "Found", "Sign", "signs_of"]

Marks: TypeAlias = Iterator[tuple[int, float]]
"""Moves by their index, and how much of the sign's weight each gets, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One reason to look at a move."""

    name: str
    weight: float
    words: str
    """What it says of the move, to follow "it"."""
    find: Callable[[Scene], Marks]
    is_fault: bool = True
    """It speaks against the move by itself, also where nobody said that the run failed."""


@dataclass(frozen=True, slots=True)
class Found:
    """A sign that a move shows."""

    sign: Sign
    points: float


_MADE_UP = re.compile(
    r"\b(?:simulat\w+|hypothetical\w*|placeholder\w*|assum(?:e|es|ed|ing|ption|ptions)\b|mock\w*|dummy|fictional"
    r"|(?:sample|example|fake) data|replace with|your_\w+|made.up)\b",
    re.IGNORECASE,
)
_NO_PROGRESS = re.compile(
    r'"[^"\n]{0,60}progress[^"\n]{0,60}"\s*:\s*(?:\{[^{}]{0,600}"answer"\s*:\s*)?false'
    r'|"[^"\n]{0,60}loop[^"\n]{0,60}"\s*:\s*(?:\{[^{}]{0,600}"answer"\s*:\s*)?true'
    r"|\bno progress\b|\bgoing (?:round )?in circles\b|\bwe(?: a|')re stuck\b|\bstalled\b",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"\b(?:yes|yep|yeah|sure|ok(?:ay)?|confirm\w*|correct|right|go ahead|proceed|please do|sounds good|looks? good"
    r"|perfect|great|thank\w*|that's all|all good|that's fine|deal)\b",
    re.IGNORECASE,
)
_GO_ON = re.compile(r"\?|\b(?:go ahead|proceed|finali[sz]e|please)\b", re.IGNORECASE)
_FIGURE = re.compile(r"(?<![\w.#$€£,:/-])(\d{1,3})(?![\w%]|[.,:/-]\w)")
_DIGITS = re.compile(r"\d+")
_LISTED = re.compile(r"^\s*\d+[.)]", re.MULTILINE)
_OWN_FAULTS = frozenset((None, ErrorClass.ARGUMENTS, ErrorClass.UNKNOWN_TOOL))
_NEGATION = re.compile(r"\b(?:non|not|no|cannot|can't|isn't|never|un)\b-?", re.IGNORECASE)
_SAME_WORDS: Final = 2
_LOOKED_AT: Final = 8  # failed calls that are compared with all that was said before
_BRIEF: Final = 120  # characters of an assent that asks for nothing new
_WORDS: Final = 40  # characters of a text that states something
_EARLY: Final = 3  # answers of helpers after which a run that goes nowhere had a bad start


def signs_of(scene: Scene) -> Mapping[int, list[Found]]:
    """Return by move the signs that it shows, in the order of the table."""
    found: dict[int, list[Found]] = {}
    for sign in SIGNS:
        for index, share in sign.find(scene):
            found.setdefault(index, []).append(Found(sign, sign.weight * share))
    return found


def _fading(moves: Iterable[Move]) -> Marks:
    """Yield the moves, the first with all of the weight, the next with a half, a third."""
    return ((move.index, 1 / count) for count, move in enumerate(moves, 1))


def _first(moves: Iterable[Move]) -> Marks:
    return ((move.index, 1.0) for move in list(moves)[:1])


def _failed_for_good(scene: Scene) -> Marks:
    """Find where the first failed call began that nothing mended; what lies in the surroundings counts for less."""
    for move in scene.course.own:
        for call in move.calls:
            if _is_lost(call, scene.blame):
                path = scene.blame.origin(move.index)
                is_own = bool(path) or classify(call.error) in _OWN_FAULTS
                yield path[-1].move if path else move.index, 1.0 if is_own else 0.3
                return


def _announced(scene: Scene) -> Marks:
    """Find words, before the first failed call that nothing mended, that named what it is about."""
    course = scene.course
    failed = next((call for move in course.own for call in move.calls if _is_lost(call, scene.blame)), None)
    if failed is None:
        return
    values = values_of(failed)
    words = (move for move in course.own if move.text and not move.calls and move.position < failed.position)
    yield from _first(move for move in words if not values.isdisjoint(course.told[move.index]))


def _denied(scene: Scene) -> Marks:
    """Find words that stated of a thing what the error of a later call about it denies."""
    course = scene.course
    lost = ((move, call) for move in course.own for call in move.calls if _is_lost(call, scene.blame))
    for move, call in islice(lost, _LOOKED_AT):
        denied = _NEGATION.sub(" ", call.error or "")
        said = telling_of(denied) if denied != call.error else set[str]()
        about = values_of(call)
        for one in takewhile(lambda one: one.index < move.index, course.own):
            told = course.told[one.index] if one.text else set[str]()
            if len(said & told) >= _SAME_WORDS and not about.isdisjoint(told):
                yield one.index, 1.0
                return


def _is_lost(call: Call, blame: Blame) -> bool:
    return call.status == "error" and not is_code(call) and not blame.recovered(call)


def _code_failed(scene: Scene) -> Marks:
    course = scene.course
    if not course.concluded:
        yield from _fading(move for move in course.own if _ran_badly(move))


def _code_failed_once(scene: Scene) -> Marks:
    course = scene.course
    if course.concluded:
        yield from _fading(move for move in course.own if _ran_badly(move))


def _ran_badly(move: Move) -> bool:
    return any(call.status == "error" and is_code(call) for call in move.calls)


def _first_code(scene: Scene) -> Marks:
    course = scene.course
    if not course.helped and not course.is_dialogue:
        yield from _first(move for move in course.own if "```" in move.text or any(map(is_code, move.calls)))


def _first_help(scene: Scene) -> Marks:
    course = scene.course
    yield from _first(course.helped)


def _came_back_empty(scene: Scene) -> Marks:
    course = scene.course
    if not course.is_dialogue:
        yield from _first(move for move in course.own if move.fruitless and not _made_good(move, scene.blame))


def _made_good(move: Move, blame: Blame) -> bool:
    """Return whether later calls brought what these did not; what code was to bring is known to nobody."""
    return all(blame.recovered(call) and not is_code(call) for call in move.calls)


def _unfounded(scene: Scene) -> Marks:
    """Find statements made straight after a call that failed or found nothing, with no better evidence."""
    course = scene.course
    if course.is_dialogue or course.helped or not course.concluded:
        return
    badly = False
    stated: list[Move] = []
    for move in course.own:
        if move.calls:
            badly = move.failed or move.fruitless
        elif badly and not move.acts and len(move.text) > _WORDS:
            stated.append(move)
    yield from _fading(stated)


def _from_memory(scene: Scene) -> Marks:
    """Find the first statement in a run that looked nothing up."""
    course = scene.course
    if course.is_dialogue or course.helped or any(move.calls for move in course.own):
        return
    told = course.own if course.users else course.own[1:]
    yield from _fading(move for move in told if len(move.text) > _WORDS)


def _answer_began(scene: Scene) -> Marks:
    course = scene.course
    if not course.is_dialogue and not course.helped:
        yield from answer_origins(course).items()


def _answer_from_help(scene: Scene) -> Marks:
    course = scene.course
    if not course.is_dialogue and course.helped:
        helpers = {move.index for move in course.helped}
        yield from ((index, share) for index, share in answer_origins(course).items() if index in helpers)


def _made_up(scene: Scene) -> Marks:
    course = scene.course
    if not course.is_dialogue:
        yield from _fading(move for move in course.acts if _MADE_UP.search(_written(move)))


def _written(move: Move) -> str:
    arguments = (text_in(call.arguments) for call in move.calls if call.arguments is not ABSENT)
    return "\n".join((move.text, *arguments))


def _went_nowhere(scene: Scene) -> Marks:
    """Find the answer of a helper after which the run itself said that it gets nowhere."""
    course = scene.course
    helpers = {move.index for move in course.helped}
    last, count = None, 0
    for move in course.own:
        if move.index in helpers:
            last, count = move, count + 1
        elif last is not None and _NO_PROGRESS.search(move.text):
            yield last.index, 1.0 if count <= _EARLY else 0.4
            return


def _figure_from_nowhere(scene: Scene) -> Marks:
    """Find the first statement with a small number that nothing before it holds: a miscount."""
    course = scene.course
    if not course.is_dialogue:
        return
    known: set[str] = set()
    for one in course.timeline.conversation.by(Role.SYSTEM):
        known.update(_DIGITS.findall(one.text))
    for move in course.moves.all:
        if move.role is Role.ASSISTANT and not move.calls:
            figures = _FIGURE.findall(_LISTED.sub(" ", move.text))
            if not known.issuperset(figures):
                yield move.index, 1.0
                return
        known.update(_DIGITS.findall(move.text))
        for call in move.calls:
            known.update(_DIGITS.findall("" if call.result is ABSENT else text_in(call.result)))


def _left_waiting(scene: Scene) -> Marks:
    course = scene.course
    last = course.moves.all[-1] if course.is_dialogue else None
    if last is not None and last.role is Role.USER and _GO_ON.search(last.text):
        yield last.index, 1.0


def _asked_for(scene: Scene) -> Marks:
    """Find the user's last words that decided what was changed, mere assent left out."""
    course = scene.course
    if not course.is_dialogue:
        return
    changes = [move.index for move in course.own if any(map(changes_world, move.calls))]
    end = changes[-1] if changes else len(course.moves.all)
    decisive = [move for move in course.users if move.index < end and not _assents(move)]
    yield from _first(reversed(decisive))


def _assents(move: Move) -> bool:
    return len(move.text) < _BRIEF and _ASSENT.search(move.text) is not None


SIGNS: tuple[Sign, ...] = (
    Sign("failed-for-good", 3.0, "is where a call began to fail that nothing later mended", _failed_for_good),
    Sign(
        "figure-from-nowhere", 2.0, "states a number that nothing before it holds", _figure_from_nowhere, is_fault=False
    ),
    Sign("announced", 0.4, "named what a call then failed at", _announced),
    Sign("denied", 4.0, "stated what the error of a later call denies", _denied),
    Sign("left-waiting", 2.0, "asks for something and nobody answers any more", _left_waiting, is_fault=False),
    Sign("asked-for", 0.5, "decided what was changed", _asked_for, is_fault=False),
    Sign(
        "first-help",
        1.0,
        "is the first answer of a helper, which all later work stands on",
        _first_help,
        is_fault=False,
    ),
    Sign("first-code", 0.75, "is the first code that was written", _first_code, is_fault=False),
    Sign("code-failed", 1.0, "wrote code that failed, and the run came to no answer", _code_failed),
    Sign("code-failed-once", 0.25, "wrote code that failed", _code_failed_once),
    Sign("came-back-empty", 0.4, "made a call that came back with nothing", _came_back_empty),
    Sign("unfounded", 0.5, "states results although the call before it brought none", _unfounded),
    Sign("from-memory", 1.0, "states results although nothing was looked up", _from_memory, is_fault=False),
    Sign("answer-began", 0.75, "is where words of the answer come from", _answer_began, is_fault=False),
    Sign(
        "answer-from-help",
        1.25,
        "is the helper's answer that words of the final one come from",
        _answer_from_help,
        is_fault=False,
    ),
    Sign("made-up", 1.0, "works with made-up or assumed data", _made_up),
    Sign("went-nowhere", 1.2, "is what the run calls no progress after", _went_nowhere),
)
"""In the order in which they are told."""
