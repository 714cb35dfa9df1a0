"""Everything a detector may ask of a run, each look-up built once."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from msgspec import Struct

from analyzer.profile import Profile
from analyzer.session.accessors import name_of
from analyzer.session.model import Event, EventKind, Note, Session
from analyzer.session.shapes import is_list
from analyzer.timeline.answers import Answer, answers_of
from analyzer.timeline.assertions import Assertion, assertions_of
from analyzer.timeline.call import Call, Fingerprint, call_of
from analyzer.timeline.complaints import Complaint, complaints_of
from analyzer.timeline.conversation import Conversation, Role, conversation_of
from analyzer.timeline.ending import Ending, RunStatus
from analyzer.timeline.failures import Failures, Run
from analyzer.timeline.heard import heard_in
from analyzer.timeline.memory import MemoryOperation, MemoryOperations
from analyzer.timeline.missing import Carried, Fact, missing_facts
from analyzer.timeline.model_calls import REQUEST, ModelCall, ModelCalls
from analyzer.timeline.offered import Offered, offered_in
from analyzer.timeline.pairing import Pairing
from analyzer.timeline.provenance import Provenance, Use, trace_values
from analyzer.timeline.reading import READINGS, Reading
from analyzer.timeline.repeats import Repetition, repetitions
from analyzer.timeline.retries import Retries, TiedRetry
from analyzer.timeline.tokens import Tokens, total_of, usage_of
from analyzer.timeline.user_turns import UserTurns
from analyzer.timeline.vocabulary import Vocabulary

__all__ = ["Timeline", "build_timeline"]

# After these the tools called before have answered.
_PROGRESS = frozenset(("turn_end", "agent_end", "agent_finish", "session_end"))


class Timeline(Struct, frozen=True, kw_only=True, dict=True):
    """One run's events, in order, and what they say together."""

    session: Session
    events: tuple[Event, ...]
    notes: tuple[Note, ...]
    """What was found odd while the index was built."""
    by_kind: dict[str, list[Event]]
    """In order of first appearance."""
    calls: tuple[Call, ...]
    """In order of their start."""
    orphan_outputs: tuple[Event, ...]
    """Outputs that answer no visible call."""
    output_events: tuple[Event, ...]
    """The outputs, each once however many hooks reported it, in order."""
    model_calls: tuple[ModelCall, ...]
    memory: tuple[MemoryOperation, ...]
    retries: tuple[TiedRetry, ...]
    """Each retry event, with the index in `calls` of the call it belongs to, if any."""
    tokens: Tokens
    missing: tuple[Fact, ...]
    status: RunStatus
    spells: tuple[tuple[int, int], ...]
    """From when to when an agent was at work, in nanoseconds, in order."""

    def of_kind(self, kind: EventKind) -> list[Event]:
        """Return the events of a kind, in order."""
        return self.by_kind.get(kind, [])

    @cached_property
    def work(self) -> tuple[Call, ...]:
        """The calls that did something: without framework pseudo tools that only carry the answer."""
        return tuple(call for call in self.calls if not call.pseudo)

    @cached_property
    def calls_by_fingerprint(self) -> dict[Fingerprint, list[Call]]:
        """The calls that did something and whose arguments are known, by fingerprint, in order of first occurrence."""
        groups: dict[Fingerprint, list[Call]] = {}
        for call in self.work:
            if call.fingerprint is not None:
                groups.setdefault(call.fingerprint, []).append(call)
        return groups

    @cached_property
    def repetitions(self) -> tuple[Repetition, ...]:
        """The calls that one agent made again while the user was silent, in order of first occurrence."""
        return repetitions(self.calls_by_fingerprint.values())

    @cached_property
    def retries_of(self) -> dict[str, list[Event]]:
        """The retry events that belong to a call, by the id of its starting event."""
        found: dict[str, list[Event]] = {}
        for retry in self.retries:
            if retry.call is not None:
                found.setdefault(self.calls[retry.call].event_id, []).append(retry.event)
        return found

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The tokens of its texts."""
        return Vocabulary()

    @cached_property
    def conversation(self) -> Conversation:
        """Who said what, each utterance once."""
        return conversation_of(self.events)

    @cached_property
    def provenance(self) -> Provenance:
        """What became of the values that outputs gave."""
        heard = heard_in(self.events, self.calls, self.orphan_outputs, self.conversation)
        return trace_values(heard, self.vocabulary)

    @property
    def uses(self) -> tuple[Use, ...]:
        """Which later event used a value of which earlier output, in order of the later event."""
        return self.provenance.uses

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """What each model call gave back."""
        kind = EventKind.TOKEN_USAGE
        return answers_of((place, event) for place, event in enumerate(self.events) if event.event == kind)

    @cached_property
    def assertions(self) -> tuple[Assertion, ...]:
        """What agents said, ready for a search."""
        return assertions_of(self.conversation.by(Role.ASSISTANT))

    @cached_property
    def complaints(self) -> tuple[Complaint, ...]:
        """The errors that stand outside of tool calls."""
        return complaints_of(self.events)

    @cached_property
    def offered(self) -> Offered:
        """The tools that models were offered."""
        return offered_in(self.of_kind(EventKind.STATE_TRANSITION))

    @cached_property
    def failures(self) -> Failures:
        """The calls that failed, and what came of it."""
        return Failures(
            Run(
                events=self.events,
                offered=self.offered,
                work=self.work,
                answers=self.answers,
                conversation=self.conversation,
                status=self.status,
            )
        )

    def places_of(self, call: Call) -> tuple[int, ...]:
        """Return where a call was made: the position of the response that asks for it, if it is known, then its own."""
        issuer = self.failures.issuers.get(call.call_id or "", call.position)
        return (issuer, call.position) if issuer < call.position else (call.position,)

    @cached_property
    def position_of(self) -> dict[str, int]:
        """Where each event stands, by id; of equal ids the first."""
        ids = [event.event_id for event in self.events]
        places = dict(zip(ids, range(len(ids)), strict=True))
        if len(places) < len(ids):
            places.update(zip(reversed(ids), reversed(range(len(ids))), strict=True))
        return places


def build_timeline(session: Session, profile: Profile) -> Timeline:
    """Return the index over a session as a profile reads it; one pass over the events."""
    reading = READINGS[profile]
    events, notes = reading.arrange(session.events)
    builder = _Builder()
    builder.take(events)
    return builder.timeline(session, events, notes, reading)


class _Builder:
    """Takes the events one by one, each to those who ask for its kind."""

    def __init__(self) -> None:
        self.by_kind: dict[str, list[Event]] = {}
        self.pairing = Pairing()
        self.model_calls = ModelCalls()
        self.memory = MemoryOperations()
        self.ending = Ending()
        self.retries = Retries()
        self.outputs: list[Event] = []
        self.user_turns = UserTurns()
        self.last_progress = -1

    def take(self, events: Iterable[Event]) -> None:
        """Take the events, in order."""
        by_kind, takers = self.by_kind, self._takers
        for position, event in enumerate(events):
            if (kind := event.event) not in by_kind:
                by_kind[kind] = []
            by_kind[kind].append(event)
            if (taker := takers.get(kind)) is not None:
                taker(self, event, position)

    def timeline(self, session: Session, events: tuple[Event, ...], notes: list[Note], reading: Reading) -> Timeline:
        """Return the index over what was taken."""
        self.pairing.settle()
        calls = tuple(call_of(pair, reading.fingerprint_of, reading.look_up) for pair in self.pairing.pairs)
        model_calls = tuple(self.model_calls.all())
        status = self.ending.status(session.extra.get("status"))
        hidden = self.model_calls.hidden(call.call_id for call in calls)
        tokens = self._tokens(model_calls, all_shown=not hidden)
        carried = Carried(
            calls=calls,
            outputs=len(self.outputs),
            model_calls=model_calls,
            hidden_model_calls=hidden,
            tokens=tokens.total is not None,
            last_progress=self.last_progress,
            ended=status is not RunStatus.UNFINISHED,
            in_part=_carried_in_part(session),
        )
        return Timeline(
            session=session,
            events=events,
            notes=tuple(notes),
            by_kind=self.by_kind,
            calls=calls,
            orphan_outputs=tuple(event for event, _ in self.pairing.orphans),
            output_events=tuple(self.outputs),
            model_calls=model_calls,
            memory=tuple(self.memory.all()),
            retries=self.retries.tied(calls),
            tokens=tokens,
            missing=missing_facts(carried),
            status=status,
            spells=tuple(self.ending.spells),
        )

    def _tokens(self, model_calls: tuple[ModelCall, ...], *, all_shown: bool) -> Tokens:
        usages = [call.usage for call in model_calls]
        reports = [usage_of(event) for event in self.model_calls.reports]
        # A report is made of what no call accounts for: where calls report nothing, it is the whole.
        complete = None not in usages if any(usages) else None not in reports
        return total_of((*usages, *reports), complete=complete and all_shown)

    def _call(self, event: Event, position: int) -> None:
        known = len(self.pairing.pairs)
        self.user_turns.call()
        self.pairing.start(event, position, self.user_turns.count)
        if len(self.pairing.pairs) > known:
            self.retries.call(known)

    def _output(self, event: Event, position: int) -> None:
        pair = self.pairing.output(event, position)
        if pair is None or len(pair.outputs) == 1:
            self.outputs.append(event)

    def _usage(self, event: Event, position: int) -> None:
        self.model_calls.usage(event)
        self.user_turns.response(event)
        self._model_call(position)

    def _transition(self, event: Event, position: int) -> None:
        name = name_of(event)
        if name == REQUEST:
            self.model_calls.request(event)
            self.user_turns.request(event)
            self._model_call(position)
            return
        self.user_turns.take(event, name, inside=self.ending.agent_at_work)
        if name in _PROGRESS:
            self.last_progress = position
        self.ending.take(name, event)

    def _memory(self, event: Event, _: int) -> None:
        self.memory.add(event)

    def _retry(self, event: Event, _: int) -> None:
        self.retries.retry(event)

    def _process(self, event: Event, _: int) -> None:
        self.ending.take(event.event, event)

    def _model_call(self, position: int) -> None:
        self.retries.model_call()
        self.last_progress = position

    _takers: ClassVar[Mapping[str, Callable[[Any, Event, int], None]]] = {
        EventKind.TOOL_CALL: _call,
        EventKind.TOOL_OUTPUT: _output,
        EventKind.TOKEN_USAGE: _usage,
        EventKind.STATE_TRANSITION: _transition,
        EventKind.MEMORY_EVENT: _memory,
        EventKind.RETRY_EVENT: _retry,
        EventKind.PROCESS_START: _process,
        EventKind.PROCESS_END: _process,
    }


def _carried_in_part(session: Session) -> frozenset[str]:
    """Return the facts that the session says its source carries only in part."""
    said = session.extra.get("carried_in_part")
    return frozenset(fact for fact in said if isinstance(fact, str)) if is_list(said) else frozenset()
