"""Which earlier move made a later one fail? Each failed move has one cause at most, so that causes are a forest.

- `blocks`: a change that succeeded made the same thing unworkable for another tool.
- `retries`: the same tool had failed before, with no success since.
- `informs`: an argument is about what an agent had told wrongly before; or no user, instruction or result ever held it,
  and an agent was the first to say it: it was made up there.

Code that an agent wrote fails of itself, unless code before it failed by the same error.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterable
from functools import cached_property

from msgspec import Struct

from analyzer.causality.course import Course, is_code
from analyzer.causality.effects import changes_world, purposes_of, values_among, values_of
from analyzer.causality.graph import Relation
from analyzer.causality.moves import Move, is_empty
from analyzer.cause import Confidence
from analyzer.timeline.call import Call

__all__ = ["Blame", "Debt"]


class Debt(Struct, frozen=True):
    """A move failed because of an earlier one."""

    move: int
    """The earlier one."""
    relation: Relation
    rule: str
    confidence: Confidence


class Blame:
    """Answers for failed calls which earlier move they owe their failure to, and whether something mended them."""

    def __init__(self, course: Course, false_words: Iterable[Move] = ()) -> None:
        """Take the run, and what was said in it that is known to be wrong, in order."""
        self._course = course
        self._vocabulary = course.timeline.vocabulary
        self._false_words = tuple(false_words)

    def recovered(self, failed: Call) -> bool:
        """Return whether a later call of the same tool, or of one that does the same, brought something."""
        return any(self._last_success.get(key, -1) > failed.position for key in purposes_of(failed.tool or ""))

    def shut_out_by(self, failed: Call) -> Move | None:
        """Return the move that changed what this call could then not work on: by another tool, the same thing."""
        found = [move for value in self._values_of(failed) if (move := self._changed_before(value, failed)) is not None]
        return max(found, key=lambda move: move.index, default=None)

    @cached_property
    def debts(self) -> dict[int, Debt]:
        """By failed move: to whom it owes its failure; linear in moves and what they say."""
        found: dict[int, Debt] = {}
        streaks: dict[Hashable, dict[str | None, int]] = {}
        for move in self._course.own:
            for call in move.calls:
                key = (call.agent, call.tool)
                if call.status != "error":
                    streaks.pop(key, None)
                    continue
                # Code that fails anew has failed anew, unless its error is the one before.
                error = call.error if is_code(call) else None
                began = streaks.setdefault(key, {}).setdefault(error, move.index)
                debt = self._debt(call, move, began)
                if debt is not None:
                    found.setdefault(move.index, debt)
        return found

    def root_of(self, index: int) -> int:
        """Return the move at which it began that a move failed: itself, unless it owes that to another."""
        return self._roots.get(index, index)

    def way_back(self, index: int, most: int) -> list[int]:
        """Return the moves from one back to its root, both told; of a long way the first so many and the root."""
        way, root = [index], self.root_of(index)
        while (debt := self.debts.get(way[-1])) is not None and len(way) < most:
            way.append(debt.move)
        return way if way[-1] == root else [*way, root]

    @cached_property
    def _roots(self) -> dict[int, int]:
        # Debts are owed to earlier moves only, and found in order: the creditor's root is known by then.
        roots: dict[int, int] = {}
        for index, debt in sorted(self.debts.items()):
            roots[index] = roots.get(debt.move, debt.move)
        return roots

    def _debt(self, call: Call, move: Move, began: int) -> Debt | None:
        if is_code(call):
            return Debt(began, "retries", "failed-before", Confidence.HIGH) if began < move.index else None
        blocker = self.shut_out_by(call)
        if blocker is not None and blocker.index < move.index:
            return Debt(blocker.index, "blocks", "changed-before", Confidence.MEDIUM)
        if began < move.index:
            return Debt(began, "retries", "failed-before", Confidence.HIGH)
        misled = self._misled_by(call, move)
        if misled is not None:
            return Debt(misled, "informs", "told-wrongly", Confidence.MEDIUM)
        inventor = self._inventor(call, move)
        return None if inventor is None else Debt(inventor, "informs", "made-up-argument", Confidence.MEDIUM)

    def _misled_by(self, call: Call, move: Move) -> int | None:
        """Return the move whose false words were about what this call is about."""
        firsts = (self._told_wrongly.get(value) for value in self._values_of(call))
        return min((first for first in firsts if first is not None and first < move.index), default=None)

    @cached_property
    def _told_wrongly(self) -> dict[str, int]:
        """By id or number: the first move that said something wrong and named it."""
        found: dict[str, int] = {}
        for move in self._false_words:
            for value in self._course.told_in(move):
                found.setdefault(value, move.index)
        return found

    def _inventor(self, call: Call, move: Move) -> int | None:
        """Return who first said a value that is in the arguments and that nobody could know."""
        firsts = (self._first_said.get(value) for value in self._values_of(call))
        return min((first for first in firsts if first is not None and first < move.index), default=None)

    @cached_property
    def _last_success(self) -> dict[Hashable, int]:
        """By purpose: where a call last brought something."""
        return {
            key: call.position
            for call in self._course.timeline.work
            if call.status != "error" and not is_empty(call)
            for key in purposes_of(call.tool or "")
        }

    @cached_property
    def _changes(self) -> dict[str, tuple[list[int], list[tuple[Move, str | None]]]]:
        """By value that a failed call is about: where it was changed, and by which move and tool."""
        found: dict[str, tuple[list[int], list[tuple[Move, str | None]]]] = {}
        for move in self._course.own:
            for call in filter(changes_world, move.calls):
                for value in values_among(self._at_stake, call, self._vocabulary):
                    places, moves = found.setdefault(value, ([], []))
                    places.append(call.position)
                    moves.append((move, call.tool))
        return found

    def _changed_before(self, value: str, failed: Call) -> Move | None:
        places, moves = self._changes.get(value, ((), ()))
        before = bisect_left(places, failed.position)
        # The last two are enough: of those before them each is overtaken by one of the same value.
        return next((move for move, tool in reversed(moves[max(0, before - 2) : before]) if tool != failed.tool), None)

    @cached_property
    def _first_said(self) -> dict[str, int]:
        """By value of a failed call's arguments that agents alone brought up: the move that did."""
        course = self._course
        open_values = self._at_stake - course.given
        last = max((move.index for move, _ in self._failed), default=0)
        first: dict[str, int] = {}
        for move in course.own:
            if not open_values or move.index >= last:
                break  # who says it later than it was used made nothing up
            said = course.told_among(open_values, move)
            first.update(dict.fromkeys(sorted(said), move.index))
            open_values -= said
            open_values -= course.learned_among(open_values, move)
        return first

    @cached_property
    def _failed(self) -> list[tuple[Move, Call]]:
        """The failed calls, those of code left out, each with its move, in order."""
        calls = ((move, call) for move in self._course.own for call in move.calls if call.status == "error")
        return [(move, call) for move, call in calls if not is_code(call)]

    @cached_property
    def _at_stake(self) -> set[str]:
        """The values that failed calls are about."""
        return set[str]().union(*(self._values_of(call) for _, call in self._failed))

    def _values_of(self, call: Call) -> set[str]:
        return values_of(call, self._vocabulary)
