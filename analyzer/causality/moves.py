"""Who did what, step by step? A move is what somebody said and the calls that were made with it.

Mistakes are made in moves: a tool that refuses its arguments is not at fault, who issued them is. The event that a move
is known by is the one where it was decided: the utterance, the model's answer that asked for the call, else the call.
"""

from typing import Final

from msgspec import Struct

from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT, payload_of
from analyzer.session.model import EventKind
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Conversation, Role, Utterance
from analyzer.timeline.index import Timeline
from analyzer.timeline.issuers import issuers_of
from analyzer.timeline.telling import text_in

__all__ = ["Move", "Moves", "is_empty", "moves_of"]

_CODE = pattern(r"```")
_EMPTY: Final = frozenset(("", "[]", "{}", "()", "none", "null", "nan", "0", "''", '""', "no results", "not found"))


class Move(Struct, gc=False):
    """One thing somebody did."""

    index: int
    position: int
    """Of the event that it is known by, in the timeline's events."""
    role: Role
    agent: str | None
    text: str = ""
    calls: list[Call] = []

    @property
    def acts(self) -> bool:
        """Whether it makes a call, or writes code to be run."""
        return bool(self.calls) or _CODE.search(self.text) is not None

    @property
    def failed(self) -> bool:
        """Whether a call of it failed."""
        return any(call.status == "error" for call in self.calls)

    @property
    def fruitless(self) -> bool:
        """Whether its calls came back with nothing, as far as that is known."""
        return bool(self.calls) and all(is_empty(call) for call in self.calls)


class Moves(Struct, gc=False):
    """The moves of a run in order."""

    all: tuple[Move, ...]
    positions: tuple[int, ...]
    """Of the event that each is known by."""


def is_empty(call: Call) -> bool:
    """Return whether a call that did not fail gave back nothing."""
    if call.status == "error" or call.result is ABSENT:
        return False
    return text_in(call.result).strip().lower() in _EMPTY


def moves_of(timeline: Timeline, conversation: Conversation) -> Moves:
    """Return the moves of a run; linear in what was said and called."""
    asked = issuers_of(
        (timeline.position_of[one.event_id], one)
        for one in timeline.of_kind(EventKind.TOKEN_USAGE)
        if "messages" in payload_of(one)
    )
    said = [one for one in conversation.utterances if one.role is not Role.SYSTEM]
    made: list[Move] = []
    waiting = iter(said)
    upcoming = next(waiting, None)
    last_output = -1
    for call in timeline.work:
        place = min(call.position, asked.get(call.call_id or "", call.position))
        while upcoming is not None and upcoming.position <= place:
            made.append(_spoken(len(made), upcoming))
            upcoming = next(waiting, None)
        move = made[-1] if made else None
        if move is None or not _belongs(call, place, move, last_output):
            move = Move(len(made), place, Role.ASSISTANT, call.agent)
            made.append(move)
        move.calls.append(call)
        last_output = max(last_output, call.output_position)
    while upcoming is not None:
        made.append(_spoken(len(made), upcoming))
        upcoming = next(waiting, None)
    return Moves(tuple(made), tuple(move.position for move in made))


def _spoken(index: int, one: Utterance) -> Move:
    return Move(index, one.position, one.role, one.agent, one.text)


def _belongs(call: Call, place: int, move: Move, last_output: int) -> bool:
    """Return whether a call was made with the last move: its answer asked for it, or nothing lies between."""
    others = None not in (call.agent, move.agent) and call.agent != move.agent
    if move.role is not Role.ASSISTANT or others:
        return False
    return place == move.position or (place == call.position and bool(move.text) and last_output < move.position)
