"""What a tool call is once its start and its output have been found."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec
from msgspec import Struct

from analyzer.pattern import pattern
from analyzer.session.accessors import (
    ABSENT,
    ARGUMENTS,
    ARGUMENTS_FINGERPRINT,
    RESULT,
    RESULT_FINGERPRINT,
    Absent,
    LookUp,
    call_id_of,
    first_given,
    first_present,
    payload_of,
    tool_of,
)
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, Json, SpanRef
from analyzer.timeline.compare import result_key
from analyzer.timeline.outcome import Outcome, Status, outcome_of
from analyzer.timeline.pairing import Pair

__all__ = ["Call", "Fingerprint", "FingerprintOf", "call_of", "implied_fingerprint", "recorded_fingerprint"]

Fingerprint: TypeAlias = tuple[str | None, bytes]
"""Tool, and its arguments as canonical JSON."""

FingerprintOf: TypeAlias = Callable[[str | None, Event, Json | Absent], Fingerprint | None]
"""From the tool, the event that tells of the arguments, and the arguments."""


class Call(Struct, frozen=True, kw_only=True):
    """One tool call: asked for once, answered at most once, however many hooks reported it."""

    tool: str | None
    call_id: str | None
    agent: str | None
    arguments: Json | Absent
    """What the tool received; ABSENT when the trace does not carry it (null is a value)."""
    fingerprint: Fingerprint | None
    """None when the arguments are not known, nor their fingerprint."""
    position: int
    """Of the starting event, in the timeline's events."""
    event_id: str
    output_id: str | None
    output_position: int
    """-1 without an output."""
    event_ids: tuple[str, ...]
    """Every event that reports the call, starts first."""
    result: Json | Absent
    result_fingerprint: str | None
    status: Status | None
    """None when nobody says how it ended."""
    error: str | None
    start_ns: int | None
    end_ns: int | None
    pseudo: bool
    """It only carries the answer: no work."""
    span: SpanRef | None
    user_turn: int
    """How often the user had spoken before."""

    @property
    def result_key(self) -> bytes | None:
        """Equal for calls that taught the same; None when the result is not known."""
        if self.result_fingerprint is not None:
            return self.result_fingerprint.encode("utf-8", "replace")
        return result_key(self.result, self.call_id)


def call_of(pair: Pair, fingerprint_of: FingerprintOf, look_up: LookUp) -> Call:
    """Return the call that a start and its output, if any, tell of."""
    starts, outputs = pair.starts, pair.outputs
    start, output = starts[0], outputs[0] if outputs else None
    payload = payload_of(start)
    agent = payload.get("agent")
    tool = tool_of(start)
    arguments = _arguments(pair, look_up)
    result, outcome = _answer(pair)
    digest = ABSENT if output is None else first_given(output, RESULT_FINGERPRINT)
    return Call(
        tool=tool,
        call_id=call_id_of(start),
        agent=agent if isinstance(agent, str) else None,
        arguments=arguments,
        fingerprint=(
            fingerprint_of(tool, start, arguments)
            if len(starts) == 1
            else _fingerprint(pair, tool, fingerprint_of, look_up)
        ),
        position=pair.position,
        event_id=start.event_id,
        output_id=None if output is None else output.event_id,
        output_position=pair.output_position,
        event_ids=tuple([event.event_id for event in (*starts, *outputs)]),
        result=result,
        result_fingerprint=digest if isinstance(digest, str) else None,
        status=outcome.status,
        error=outcome.error,
        start_ns=start.time_ns,
        end_ns=None if output is None else output.time_ns,
        pseudo=payload.get("pseudo") is True,
        span=start.span,
        user_turn=pair.user_turn,
    )


def recorded_fingerprint(tool: str | None, start: Event, arguments: Json | Absent) -> Fingerprint | None:
    """Return tool and arguments as they stand; absent arguments are none, `{}` (critiqor 0.1.4)."""
    named = start.extra.get("tool", tool)
    if named is not None and not isinstance(named, str):
        named = canonical([named]).decode("utf-8", "replace")  # 1 is another tool than "1"
    return named, canonical({} if arguments is ABSENT else arguments)


def implied_fingerprint(tool: str | None, start: Event, arguments: Json | Absent) -> Fingerprint | None:
    """Return tool and arguments: null is no arguments, JSON text its object; None when they are not carried whole."""
    if arguments is ABSENT:
        digest = first_given(start, ARGUMENTS_FINGERPRINT)
        return (tool, digest.encode("utf-8", "replace")) if isinstance(digest, str) else None
    if arguments is None:
        return tool, canonical({})
    whole = _object_of(arguments)
    return None if whole is ABSENT else (tool, canonical(whole))


def _object_of(arguments: Json) -> Json | Absent:
    """Return the object that JSON text is, ABSENT for one that was cut: calls may differ in what is gone."""
    if not isinstance(arguments, str) or not arguments.lstrip().startswith("{"):
        return arguments
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return ABSENT if _BEGUN.match(arguments) and not arguments.rstrip().endswith("}") else arguments


_BEGUN = pattern(r'\s*\{\s*(?:"|$)')  # never closed: what an attribute length limit leaves


def _arguments(pair: Pair, look_up: LookUp) -> Json | Absent:
    for start in pair.starts:
        if (found := look_up(start, ARGUMENTS)) is not ABSENT:
            return found
    return ABSENT


def _fingerprint(pair: Pair, tool: str | None, fingerprint_of: FingerprintOf, look_up: LookUp) -> Fingerprint | None:
    """Return the fingerprint of a call that several hooks report, by the first that tells of its arguments."""
    bearer = next((start for start in pair.starts if first_present(start, ARGUMENTS) is not ABSENT), pair.start)
    return fingerprint_of(tool, bearer, look_up(bearer, ARGUMENTS))


def _answer(pair: Pair) -> tuple[Json | Absent, Outcome]:
    """Return the result and the outcome: of several reports the first that knows."""
    result: Json | Absent = ABSENT
    outcome = Outcome(None)
    for output in pair.outputs:
        found = first_given(output, RESULT)
        result = found if result is ABSENT else result
        said = outcome_of(output, found)
        outcome = said if outcome.status is None or said.status == "error" else outcome
    return result, outcome
