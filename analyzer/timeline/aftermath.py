"""What came of a call that failed: made up for, told in the answer, the end of the run, or nothing?

A later call makes up for it when it succeeds, was asked for after the failure, and is of the same tool. Where the
tool changes nothing, one of another such tool does too whose name or arguments share something telling with it, and
one that makes what was looked for in vain; where it runs whatever it is given (a shell, an interpreter), one of
another such tool does. What an agent says until the user speaks again counts as its answer.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from analyzer.session.accessors import ABSENT
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_number, is_object
from analyzer.timeline.admission import admits_failure
from analyzer.timeline.call import Call
from analyzer.timeline.conversation import Conversation, Role, Utterance
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.tool_purpose import changes_something, runs_anything
from analyzer.timeline.tool_words import telling_words

__all__ = ["Aftermath", "Aftermaths", "Outlook"]

_LOOKED_THROUGH = 8  # utterances after a failure that are read for an admission
_MOST_VALUES = 20
_LONGEST = 200
_SHORTEST = 3
_LEAST_NUMBER = 1_000
_DEEPEST = 3


_Key: TypeAlias = tuple[str, str]
"""What a success shares with a failure it may make up for: `runs`, `word`, `value` or `made`; and which."""


class Aftermath(StrEnum):
    """What came of a failure."""

    RECOVERED = "recovered"
    """A later call made up for it."""
    REPORTED = "reported"
    """The agent said that something went wrong."""
    UNSEEN = "unseen"
    """The run went on, and the evidence doesn't carry what the agent said."""
    UNHANDLED = "unhandled"
    """Nobody made up for it, and nobody told of it."""
    FATAL = "fatal"
    """The run failed, and nothing came after."""


class Outlook(Struct, frozen=True):
    """What came of one failure."""

    aftermath: Aftermath
    position: int | None = None
    """Of the event that shows it: the call that made up for it, or what the agent said; None without one."""


class Aftermaths:
    """Looks up what came of failures; each look-up takes a time that does not grow with the run, but for logarithms."""

    def __init__(
        self,
        calls: Sequence[Call],
        conversation: Conversation,
        issuers: Mapping[str, int],
        *,
        status: RunStatus,
        answers: Sequence[int],
        last_call: int,
    ) -> None:
        """Take a run: its calls that did not fail, in order, what was said, who asked for calls, and how it ended.

        `answers` are the positions of what models gave back, in order; `last_call` is that of the last call, failed or
        not.
        """
        self._calls = calls
        self._conversation = conversation
        self._issuers = issuers
        self._status = status
        self._answers = answers
        self._last_deed = max(last_call, answers[-1] if answers else -1)
        self._admits: dict[int, bool] = {}

    def of(self, call: Call) -> Outlook:
        """Return what came of a call that failed, or that was never answered."""
        after = max(call.position, call.output_position)
        again = self._made_up_for(call, after if call.output_id is not None else self._next_answer(after))
        return Outlook(Aftermath.RECOVERED, again) if again is not None else self.without_help(after)

    def without_help(self, after: int) -> Outlook:
        """Return what came of a failure at a position that no later call made up for."""
        followed = self._last_deed > after
        said = self._said(after)
        if self._status is RunStatus.FAILED and not followed and not said:
            return Outlook(Aftermath.FATAL)
        admission = next((one for one in said if self._admission(one)), None)
        if admission is not None:
            return Outlook(Aftermath.REPORTED, admission.position)
        answer = next((one for one in reversed(said) if not one.asks), None)
        if answer is not None:
            return Outlook(Aftermath.UNHANDLED, answer.position)
        ended = self._status in (RunStatus.COMPLETED, RunStatus.FAILED)
        return Outlook(Aftermath.UNSEEN if followed or ended else Aftermath.UNHANDLED)

    def _next_answer(self, position: int) -> int:
        """Return where a model next answers: what was called before was asked for side by side."""
        place = bisect_right(self._answers, position)
        return self._answers[place] if place < len(self._answers) else position

    def _made_up_for(self, call: Call, after: int) -> int | None:
        issuer = self._issuers.get(call.call_id or "")
        again = self._first(self._by_tool.get(call.tool or ""), after, issuer)
        if again is not None:
            return again
        for key in _wants(call):
            again = self._first(self._alike.get(key), after, issuer)
            if again is not None:
                return again
        return None

    def _first(self, found: list[Call] | None, after: int, issuer: int | None) -> int | None:
        """Return the position of the first call after a position, or of the last where that one was asked for too."""
        if not found:
            return None
        place = bisect_right(found, after, key=lambda call: call.position)
        for call in (*found[place : place + 1], found[-1]):
            if call.position > after and (issuer is None or self._issuers.get(call.call_id or "") != issuer):
                return call.position
        return None

    @cached_property
    def _by_tool(self) -> dict[str, list[Call]]:
        """The calls that succeeded, by tool."""
        found: dict[str, list[Call]] = {}
        for call in self._calls:
            if call.output_id is not None:
                found.setdefault(call.tool or "", []).append(call)
        return found

    @cached_property
    def _alike(self) -> dict[_Key, list[Call]]:
        """The calls that succeeded, by what else they have in common with those they may make up for."""
        found: dict[_Key, list[Call]] = {}
        for call in self._calls:
            if call.output_id is not None:
                for key in _helps(call):
                    found.setdefault(key, []).append(call)
        return found

    def _said(self, after: int) -> Sequence[Utterance]:
        """Return what the agents said after a position until the user spoke again: the beginning and the end of it."""
        until = bisect_right(self._asked, after)
        limit = self._asked[until] if until < len(self._asked) else None
        first = bisect_right(self._told, after, key=lambda one: one.position)
        last = len(self._told) if limit is None else bisect_right(self._told, limit, key=lambda one: one.position)
        half = _LOOKED_THROUGH // 2
        if last - first <= _LOOKED_THROUGH:
            return self._told[first:last]
        return (*self._told[first : first + half], *self._told[last - half : last])

    @cached_property
    def _told(self) -> tuple[Utterance, ...]:
        return self._conversation.by(Role.ASSISTANT)

    @cached_property
    def _asked(self) -> list[int]:
        return [one.position for one in self._conversation.by(Role.USER)]

    def _admission(self, said: Utterance) -> bool:
        known = self._admits.get(id(said))
        if known is None:
            known = self._admits[id(said)] = admits_failure(said.text)
        return known


def _helps(call: Call) -> list[_Key]:
    """Return what a call that succeeded shares with those of other tools that it may make up for."""
    return _shared(call, "made" if changes_something(call.tool or "") else "value")


def _wants(call: Call) -> list[_Key]:
    """Return what may make up for a call besides its own tool; what it looked for in vain may be made instead."""
    return [] if changes_something(call.tool or "") else [*_shared(call, "value"), *_shared(call, "made")]


def _shared(call: Call, how: str) -> list[_Key]:
    tool = call.tool or ""
    if runs_anything(tool):
        return [("runs", "")] if how == "value" else []
    words = telling_words(tool) if how == "value" else ()
    return [*(("word", word) for word in sorted(words)), *((how, value) for value in _values(call.arguments))]


def _values(arguments: Json) -> list[str]:
    """Return the telling values of arguments as texts: no short words, no small numbers."""
    if arguments is ABSENT:
        return []
    found: dict[str, None] = {}
    for value in _leaves(arguments, 0):
        if len(found) >= _MOST_VALUES:
            break
        if isinstance(value, str) and _SHORTEST <= len(value) <= _LONGEST:
            found[value.strip().lower()] = None
        elif is_number(value) and abs(value) >= _LEAST_NUMBER:
            found[str(value)] = None
    return list(found)


def _leaves(value: Json, depth: int) -> Iterator[Json]:
    inner: Sequence[Json] = ()
    if is_object(value):
        inner = tuple(value.values())
    elif is_list(value):
        inner = value
    else:
        yield value
    for item in inner[:_MOST_VALUES] if depth < _DEEPEST else ():
        yield from _leaves(item, depth + 1)
