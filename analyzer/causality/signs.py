"""Which moves look like the one by which the run was lost? The table of signs, and what each is worth.

A sign is a reason to look at a move, not a proof. The weights are few and round; how far they carry is measured on
labelled runs (docs/accuracy.md). Which signs can be seen depends on the run: where users come back, they may have asked
for the wrong thing; where agents write code, the first code that fails is where most runs turn.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from analyzer.causality import signs_in_calls as calls
from analyzer.causality import signs_in_words as words
from analyzer.causality.marks import Marks
from analyzer.causality.scene import Scene

__all__ = ["SIGNS", "Found", "Sign", "signs_of"]


class Sign(Struct, frozen=True):
    """One reason to look at a move."""

    name: str
    weight: float
    words: str
    """What it says of the move, to follow "it"."""
    find: Callable[[Scene], Marks]
    is_fault: bool = True
    """It speaks against the move by itself, also where nobody said that the run failed."""


class Found(Struct, frozen=True):
    """A sign that a move shows."""

    sign: Sign
    points: float


def signs_of(scene: Scene) -> Mapping[int, list[Found]]:
    """Return by move the signs that it shows, in the order of the table."""
    found: dict[int, list[Found]] = {}
    for sign in SIGNS:
        for index, share in sign.find(scene):
            found.setdefault(index, []).append(Found(sign, sign.weight * share))
    return found


SIGNS: tuple[Sign, ...] = (
    Sign("failed-for-good", 3.0, "is where a call began to fail that nothing later mended", calls.failed_for_good),
    Sign(
        "figure-from-nowhere",
        2.0,
        "states a number that nothing before it holds",
        words.figure_from_nowhere,
        is_fault=False,
    ),
    Sign("announced", 0.4, "named what a call then failed at", calls.announced),
    Sign("denied", 4.0, "stated what the error of a later call denies", calls.denied),
    Sign("left-waiting", 2.0, "asks for something and nobody answers any more", words.left_waiting, is_fault=False),
    Sign("asked-for", 0.5, "decided what was changed", words.asked_for, is_fault=False),
    Sign("gave-up", 0.8, "hands the user over to people", calls.gave_up, is_fault=False),
    Sign(
        "first-help",
        1.0,
        "is the first answer of a helper, which all later work stands on",
        words.first_help,
        is_fault=False,
    ),
    Sign("first-code", 0.75, "is the first code that was written", calls.first_code, is_fault=False),
    Sign("code-failed", 1.0, "wrote code that failed, and the run came to no answer", calls.code_failed),
    Sign("code-failed-once", 0.25, "wrote code that failed", calls.code_failed_once),
    Sign("came-back-empty", 0.4, "made a call that came back with nothing", calls.came_back_empty),
    Sign("unfounded", 0.5, "states results although the call before it brought none", words.unfounded),
    Sign("from-memory", 1.0, "states results although nothing was looked up", words.from_memory, is_fault=False),
    Sign("answer-began", 0.75, "is where words of the answer come from", words.answer_began, is_fault=False),
    Sign(
        "answer-from-help",
        1.25,
        "is the helper's answer that words of the final one come from",
        words.answer_from_help,
        is_fault=False,
    ),
    Sign("made-up", 1.0, "works with made-up or assumed data", calls.made_up),
    Sign("went-nowhere", 1.2, "is what the run calls no progress after", words.went_nowhere),
)
"""In the order in which they are told."""
