"""What course did a run take: a talk with a user, work handed to others, code that was run? Was there an answer?"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

from msgspec import Struct

from analyzer.causality.moves import Move, Moves, moves_of
from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT, payload_of
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Role
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.index import Timeline

__all__ = ["MOST_TEXT", "Course", "course_of", "is_code", "is_control"]

MOST_TEXT: Final = 20_000
"""Characters of one text that are looked at, from its beginning; of an answer also from its end."""

_CONTROL = pattern(r"\W*[A-Z][A-Z_]{2,}\W*")
_FINAL = pattern(r"final answer\W", re.IGNORECASE)
_CLOSING = 600  # characters of the last words in which a run is closed
_BLOCK = pattern(r"```.*?```", re.DOTALL)
_LINES = 2  # line breaks from which on a text in an argument is something written, not a value


def is_control(text: str) -> bool:
    """Return whether a text is a signal between programs (`TERMINATE`), no words for people."""
    return bool(text) and _CONTROL.fullmatch(text) is not None


def is_code(call: Call) -> bool:
    """Return whether a call runs what the agent wrote: an argument holds several lines."""
    return any(text.count("\n") >= _LINES for text in _texts(call.arguments))


class Course(Struct, frozen=True, dict=True):
    """The moves of a run, and what they are together."""

    timeline: Timeline
    moves: Moves

    @cached_property
    def move_at(self) -> dict[int, Move]:
        """By position of an event: the move that it is of, its own or that of the call which it starts or answers."""
        found = {move.position: move for move in self.moves.all}
        for move in self.moves.all:
            for call in move.calls:
                found.setdefault(call.position, move)
                if call.output_position >= 0:
                    found.setdefault(call.output_position, move)
        return found

    @cached_property
    def users(self) -> tuple[Move, ...]:
        """What users said."""
        return tuple(move for move in self.moves.all if move.role is Role.USER)

    @cached_property
    def own(self) -> tuple[Move, ...]:
        """What agents did, signals between programs left out."""
        return tuple(move for move in self.moves.all if move.role is not Role.USER and not is_control(move.text))

    @cached_property
    def is_dialogue(self) -> bool:
        """Whether the user came back to the agent: what went wrong may have been asked for."""
        return len(self.users) > 1

    @cached_property
    def helped(self) -> tuple[Move, ...]:
        """What agents answered to whom they were asked by: another agent that addressed them."""
        addressed: set[str] = set()
        found: list[Move] = []
        for move in self.own:
            to = payload_of(self.timeline.events[move.position]).get("to")
            if move.role is Role.CALLER and move.agent is not None:
                addressed.add(move.agent)
            elif isinstance(to, str):
                addressed.add(to)
            elif move.agent in addressed:
                found.append(move)
        return tuple(found)

    @cached_property
    def acts(self) -> tuple[Move, ...]:
        """What reached beyond talk: answers of helpers where work was handed to others, else calls and written code."""
        return self.helped or tuple(move for move in self.own if move.acts)

    @cached_property
    def answer(self) -> Move | None:
        """The last words of an agent."""
        return next((move for move in reversed(self.own) if move.text), None)

    @cached_property
    def concluded(self) -> bool:
        """Whether the run came to an answer, or to an end that somebody declared."""
        ended = self.timeline.status is RunStatus.COMPLETED or self.is_dialogue
        return ended or any(_closes(move.text) for move in self.moves.all[-2:])

    @cached_property
    def given(self) -> set[str]:
        """What was known before anybody did anything: tokens of instructions and of what users said."""
        texts = [one.text for one in self.timeline.conversation.by(Role.SYSTEM, Role.USER)]
        if not self.users and self.own:
            texts.append(_BLOCK.sub(" ", self.own[0].text))
        return set[str]().union(*map(self.telling_of, texts))

    def telling_of(self, text: str) -> AbstractSet[str]:
        """Return the tokens of a text that would be known again elsewhere."""
        return self.timeline.vocabulary.telling(text[:MOST_TEXT])

    def told_in(self, move: Move) -> set[str]:
        """Return the tokens of what a move says, and of the arguments of its calls."""
        return set[str]().union(*map(self.telling_of, self._told(move)))

    def learned_in(self, move: Move) -> set[str]:
        """Return the tokens of what the calls of a move gave back."""
        return set[str]().union(*map(self.telling_of, self._learned(move)))

    def told_among(self, wanted: AbstractSet[str], move: Move) -> set[str]:
        """Return what `told_in` would, of telling tokens that are looked for."""
        return self._among(wanted, self._told(move))

    def learned_among(self, wanted: AbstractSet[str], move: Move) -> set[str]:
        """Return what `learned_in` would, of telling tokens that are looked for."""
        return self._among(wanted, self._learned(move))

    def _among(self, wanted: AbstractSet[str], texts: Iterator[str]) -> set[str]:
        tokens_of = self.timeline.vocabulary.of
        return {token for text in texts for token in wanted & tokens_of(text[:MOST_TEXT])}

    def _told(self, move: Move) -> Iterator[str]:
        if move.text:
            yield move.text
        for call in move.calls:
            if call.arguments is not ABSENT:
                yield self.timeline.vocabulary.text_in(call.arguments)

    def _learned(self, move: Move) -> Iterator[str]:
        for call in move.calls:
            if call.result is not ABSENT:
                yield self.timeline.vocabulary.text_in(call.result)


def course_of(timeline: Timeline) -> Course:
    """Return the course of a run."""
    return Course(timeline, moves_of(timeline, timeline.conversation))


def _closes(text: str) -> bool:
    end = text[-_CLOSING:]
    last_line = end.rstrip().rpartition("\n")[2].rpartition(" ")[2]
    return _FINAL.search(end) is not None or (bool(last_line) and is_control(last_line))


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts of a call's arguments, three levels deep at most."""
    level = [value]
    for _ in range(4):
        for item in level:
            if isinstance(item, str):
                yield item
        level = [inner for item in level for inner in _inner(item)]


def _inner(value: Json) -> list[Json]:
    if is_object(value):
        return list(value.values())
    return value if is_list(value) else []
