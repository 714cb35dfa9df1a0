"""Where did the run's answer come from? Its telling words, traced to the move that first said or learned them."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from analyzer.causality.course import MOST_TEXT, Course
from analyzer.pattern import pattern
from analyzer.timeline.telling import weight

__all__ = ["answer_origins"]

_FINAL = pattern(r"final answer\W*", re.IGNORECASE)
_LINE: Final = 300
# What an answer sets apart: bold, code, quotes, what follows "answer:".
_SET_APART = pattern(
    r"\*\*([^*\n]{1,120})\*\*|`+([^`]{1,200})`+|[\"“]([^\"”\n]{2,120})[\"”]"
    r"|\b(?:answer|result|output)\b[^:\n]{0,30}:\s*([^\n]{1,150})",
    re.IGNORECASE,
)
_APART = 3


def answer_origins(course: Course) -> Mapping[int, float]:
    """Return by move the share of the answer's telling words that it was the first to say or to learn.

    Only words that neither users nor instructions had said count; empty where the run came to no answer.
    """
    answer = course.answer
    if answer is None or not course.concluded:
        return {}
    before, said = _final_words(answer.text)
    wanted = _wanted(said, course)
    whole = sum(wanted.values())
    found: Counter[int] = Counter()
    for move in course.own:
        told = course.telling_of(before) if move is answer and before else course.told_in(move)
        held = told | course.learned_in(move)
        for token in [token for token in wanted if token in held]:
            found[move.index] += wanted.pop(token)
        if move is answer:
            break
    return {index: votes / whole for index, votes in found.items()}


def _final_words(text: str) -> tuple[str, str]:
    """Return what leads up to a declared final answer, and the answer; nothing and the whole text without one."""
    marks = list(_FINAL.finditer(text))
    if not marks:
        return "", text[-MOST_TEXT:]
    return text[: marks[-1].start()], text[marks[-1].end() :].partition("\n")[0][:_LINE]


def _wanted(text: str, course: Course) -> dict[str, int]:
    apart = " ".join(part for found in _SET_APART.findall(text) for part in found)
    marked = course.telling_of(apart)
    return {
        token: weight(token) * (_APART if token in marked else 1)
        for token in sorted(course.telling_of(text))
        if token not in course.given
    }
