"""What did it teach to make the same call again? Tells a loop from polling, paging and retrying.

A call is news when it succeeds with a result that no equal call before it gave. What follows the last news was for
nothing: that stretch is what a loop is made of.
"""

from collections.abc import Hashable, Iterable
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from analyzer.timeline.call import Call

__all__ = ["LOOP", "Lesson", "Mark", "Repetition", "repetitions"]

LOOP = 3
"""Two equal calls are a retry; three are a habit (critiqor.session.v1)."""

Mark = Literal["progressing", "recovered"]


class Lesson(StrEnum):
    """What a repeated call taught."""

    NEWS = "news"
    SAME = "same"
    """It succeeded with a result that was known."""
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The trace carries no result to compare."""


class Repetition(Struct, frozen=True):
    """Two or more calls with one fingerprint, by one agent, with no word of the user in between."""

    calls: tuple[Call, ...]
    lessons: tuple[Lesson, ...]

    @property
    def fruitless(self) -> int:
        """How many calls the last stretch without news has; the call that brought the last news opens it."""
        last_news = max((place for place, lesson in enumerate(self.lessons) if lesson is Lesson.NEWS), default=0)
        return len(self.lessons) - last_news

    @property
    def mark(self) -> Mark | None:
        """Why a habit is none to worry about: its results kept changing, or its failures ended in a success."""
        if len(self.calls) < LOOP or self.fruitless >= LOOP:
            return None
        return "recovered" if self.lessons.count(Lesson.NEWS) == 1 else "progressing"

    @property
    def duplicates(self) -> int:
        """How many of the calls repeated one and brought no news; none where the habit was worth it."""
        return 0 if self.mark is not None else sum(lesson is not Lesson.NEWS for lesson in self.lessons[1:])

    @property
    def wasted(self) -> tuple[Call, ...]:
        """The calls known to be for nothing: after an equal call that succeeded, with an equal result."""
        if self.mark is not None:
            return ()
        return tuple(
            call
            for call, lesson, before in zip(self.calls[1:], self.lessons[1:], self.lessons, strict=False)
            if lesson is Lesson.SAME and before is not Lesson.FAILED
        )


def repetitions(groups: Iterable[list[Call]]) -> tuple[Repetition, ...]:
    """Return the repetitions among calls that are grouped by fingerprint."""
    found: list[Repetition] = []
    for group in groups:
        if len(group) > 1:
            found += (Repetition(tuple(calls), _lessons(calls)) for calls in _split(group) if len(calls) > 1)
    return tuple(found)


def _split(group: list[Call]) -> Iterable[list[Call]]:
    parts: dict[Hashable, list[Call]] = {}
    for call in group:
        parts.setdefault((call.agent, call.user_turn), []).append(call)
    return parts.values()


def _lessons(calls: list[Call]) -> tuple[Lesson, ...]:
    seen: set[bytes] = set()
    lessons: list[Lesson] = []
    for call in calls:
        key = None if call.status == "error" else call.result_key
        lessons.append(_lesson(call, key, seen))
        if key is not None:
            seen.add(key)
    return tuple(lessons)


def _lesson(call: Call, key: bytes | None, seen: set[bytes]) -> Lesson:
    if call.status == "error":
        return Lesson.FAILED
    if key is None:
        return Lesson.UNKNOWN
    return Lesson.SAME if key in seen else Lesson.NEWS
