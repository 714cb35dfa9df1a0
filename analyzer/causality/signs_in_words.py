"""Which words look like what a run was lost by: of users, of agents, of helpers they asked?"""

import re
from typing import Final

from analyzer.causality.effects import changes_world
from analyzer.causality.marks import Marks, fading, first
from analyzer.causality.moves import Move
from analyzer.causality.origin import answer_origins
from analyzer.causality.scene import Scene
from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT
from analyzer.timeline.conversation import Role

__all__ = [
    "answer_began",
    "answer_from_help",
    "asked_for",
    "figure_from_nowhere",
    "first_help",
    "from_memory",
    "left_waiting",
    "unfounded",
    "went_nowhere",
]

_NO_PROGRESS = pattern(
    r'"[^"\n]{0,60}progress[^"\n]{0,60}"\s*:\s*(?:\{[^{}]{0,600}"answer"\s*:\s*)?false'
    r'|"[^"\n]{0,60}loop[^"\n]{0,60}"\s*:\s*(?:\{[^{}]{0,600}"answer"\s*:\s*)?true'
    r"|\bno progress\b|\bgoing (?:round )?in circles\b|\bwe(?: a|')re stuck\b|\bstalled\b",
    re.IGNORECASE,
)
_ASSENT = pattern(
    r"\b(?:yes|yep|yeah|sure|ok(?:ay)?|confirm\w*|correct|right|go ahead|proceed|please do|sounds good|looks? good"
    r"|perfect|great|thank\w*|that's all|all good|that's fine|deal)\b",
    re.IGNORECASE,
)
_GO_ON = pattern(r"\?|\b(?:go ahead|proceed|finali[sz]e|please)\b", re.IGNORECASE)
_FIGURE = pattern(r"(?<![\w.#$€£,:/-])(\d{1,3})(?![\w%]|[.,:/-]\w)")
_DIGITS = pattern(r"\d+")
_LISTED = pattern(r"^[ \t]*\d+[.)]", re.MULTILINE)
_BRIEF: Final = 120  # characters of an assent that asks for nothing new
_WORDS: Final = 40  # characters of a text that states something
_EARLY: Final = 3  # answers of helpers after which a run that goes nowhere had a bad start


def first_help(scene: Scene) -> Marks:
    """Find the first answer of a helper."""
    course = scene.course
    yield from first(course.helped)


def unfounded(scene: Scene) -> Marks:
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
    yield from fading(stated)


def from_memory(scene: Scene) -> Marks:
    """Find the first statement in a run that looked nothing up."""
    course = scene.course
    if course.is_dialogue or course.helped or any(move.calls for move in course.own):
        return
    told = course.own if course.users else course.own[1:]
    yield from fading(move for move in told if len(move.text) > _WORDS)


def answer_began(scene: Scene) -> Marks:
    """Find where words of the answer come from."""
    course = scene.course
    if not course.is_dialogue and not course.helped:
        yield from answer_origins(course).items()


def answer_from_help(scene: Scene) -> Marks:
    """Find the helper whose answer words of the final one come from."""
    course = scene.course
    if not course.is_dialogue and course.helped:
        helpers = {move.index for move in course.helped}
        yield from ((index, share) for index, share in answer_origins(course).items() if index in helpers)


def went_nowhere(scene: Scene) -> Marks:
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


def figure_from_nowhere(scene: Scene) -> Marks:
    """Find the first statement with a small number that nothing before it holds: a miscount."""
    course = scene.course
    if not course.is_dialogue:
        return
    known: set[str] = set()
    text_in = course.timeline.vocabulary.text_in
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


def left_waiting(scene: Scene) -> Marks:
    """Find the last words of a user who asks for something that nobody answers."""
    course = scene.course
    last = course.moves.all[-1] if course.is_dialogue else None
    if last is not None and last.role is Role.USER and _GO_ON.search(last.text):
        yield last.index, 1.0


def asked_for(scene: Scene) -> Marks:
    """Find the user's last words that decided what was changed, mere assent left out."""
    course = scene.course
    if not course.is_dialogue:
        return
    changes = [move.index for move in course.own if any(map(changes_world, move.calls))]
    end = changes[-1] if changes else len(course.moves.all)
    decisive = [move for move in course.users if move.index < end and not _assents(move)]
    yield from first(reversed(decisive))


def _assents(move: Move) -> bool:
    return len(move.text) < _BRIEF and _ASSENT.search(move.text) is not None
