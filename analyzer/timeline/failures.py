"""Which calls failed, whose failure is each, and what came of it? Calls of tools, and of models.

One mistake has one owner. A call to a tool that was never offered is one of an unknown tool, unless its error tells of
something that a tool must exist for (a time-out, a refusal, a service). Arguments that break their schema own what the
error says less of: nothing, that something was not found, or that a service failed over them. For the rest the error's
own class counts, in the order of `error_classes`.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from analyzer.session.accessors import payload_of
from analyzer.session.model import Event
from analyzer.session.shapes import is_object
from analyzer.timeline.aftermath import Aftermath, Aftermaths, Outlook
from analyzer.timeline.answers import Answer
from analyzer.timeline.call import Call
from analyzer.timeline.call_failure import CallFailure, failure_of
from analyzer.timeline.conversation import Conversation
from analyzer.timeline.ending import RunStatus
from analyzer.timeline.error_classes import ErrorClass, classify
from analyzer.timeline.issuers import issuers_of
from analyzer.timeline.json_schema import Breach, Plain, breach_of, plain_of
from analyzer.timeline.offered import Offered

__all__ = ["FailedCall", "FailedModelCall", "Failures", "Run"]

_OWNED_BY_OFFER = frozenset((None, ErrorClass.UNKNOWN_TOOL, ErrorClass.NOT_FOUND, ErrorClass.ARGUMENTS))
_OWNED_BY_BREACH = frozenset((None, ErrorClass.ARGUMENTS, ErrorClass.NOT_FOUND, ErrorClass.SERVICE))
_OF_MODELS = frozenset((ErrorClass.RATE_LIMIT, ErrorClass.PERMISSION, ErrorClass.TIMEOUT, ErrorClass.SERVICE))
_WRAPPERS = frozenset(("kwargs", "args", "arguments", "input", "tool_input", "parameters"))


class FailedCall(Struct, frozen=True, kw_only=True):
    """One call of a tool that failed."""

    call: Call
    failure: CallFailure
    owner: ErrorClass | None
    """The class of errors the failure is one of; None when nothing tells."""
    outlook: Outlook


class FailedModelCall(Struct, frozen=True, kw_only=True):
    """One call of a model that failed in a way that tools fail too."""

    answer: Answer
    model: str | None
    owner: ErrorClass
    outlook: Outlook


class Run(Struct, frozen=True, kw_only=True):
    """What must be known of a run."""

    events: tuple[Event, ...]
    offered: Offered
    work: tuple[Call, ...]
    answers: tuple[Answer, ...]
    conversation: Conversation
    status: RunStatus


class Failures:
    """The failed calls of a run, each look-up built once, when first asked for."""

    def __init__(self, run: Run) -> None:
        """Take the run."""
        self._run = run
        self._plain: dict[str, Plain] = {}

    @cached_property
    def issuers(self) -> dict[str, int]:
        """The position of the response that asks for it, by call id."""
        events = self._run.events
        return issuers_of((answer.position, events[answer.position]) for answer in self._run.answers)

    @cached_property
    def breaches(self) -> dict[int, Breach]:
        """How calls break the declared schema of their tool, by position of the call."""
        if not self._run.offered.known:
            return {}
        found = ((call.position, self._breach(call)) for call in self._run.work)
        return {position: breach for position, breach in found if breach is not None}

    @cached_property
    def aftermaths(self) -> Aftermaths:
        """What came of failures."""
        work = self._run.work
        return Aftermaths(
            tuple(call for call in work if call.position not in self._failed),
            self._run.conversation,
            self.issuers,
            status=self._run.status,
            answers=[answer.position for answer in self._run.answers],
            last_call=work[-1].position if work else -1,
        )

    @cached_property
    def of_tools(self) -> tuple[FailedCall, ...]:
        """The calls of tools that failed, in order."""
        return tuple(
            FailedCall(call=call, failure=failure, owner=self._owner(call, failure), outlook=self.aftermaths.of(call))
            for call in self._run.work
            if (failure := self._failed.get(call.position)) is not None
        )

    @cached_property
    def of_models(self) -> tuple[FailedModelCall, ...]:
        """The calls of models that failed as tools fail, in order."""
        later: dict[str | None, int] = {}
        found: list[FailedModelCall] = []
        for answer in reversed(self._run.answers):
            if answer.error is None:
                later[answer.agent] = answer.position
                continue
            payload = payload_of(self._run.events[answer.position])
            error_type, model = payload.get("error_type"), payload.get("model")
            owner = classify(error_type if isinstance(error_type, str) else None, answer.error)
            if owner is not None and owner in _OF_MODELS:
                again = later.get(answer.agent)
                outlook = (
                    self.aftermaths.without_help(answer.position)
                    if again is None
                    else Outlook(Aftermath.RECOVERED, again)
                )
                name = model if isinstance(model, str) else None
                found.append(FailedModelCall(answer=answer, model=name, owner=owner, outlook=outlook))
        return tuple(reversed(found))

    @cached_property
    def _failed(self) -> Mapping[int, CallFailure]:
        """The failures, by position of the call."""
        events = self._run.events
        found: dict[int, CallFailure] = {}
        for call in self._run.work:
            output = events[call.output_position] if call.output_id is not None else None
            failure = failure_of(call, output)
            if failure is not None:
                found[call.position] = failure
        return found

    def _owner(self, call: Call, failure: CallFailure) -> ErrorClass | None:
        said = failure.error_class
        if said in _OWNED_BY_OFFER and self.lacks(call):
            return ErrorClass.UNKNOWN_TOOL
        if said in _OWNED_BY_BREACH and call.position in self.breaches:
            return ErrorClass.ARGUMENTS
        return said

    def lacks(self, call: Call) -> bool:
        """Return whether the tool of a call was never offered, where the offered ones are known."""
        offered = self._run.offered
        return offered.known_for(call.agent) and call.tool is not None and not offered.has(call.tool)

    def _breach(self, call: Call) -> Breach | None:
        schema = self._run.offered.parameters(call.tool)
        arguments = None if schema is None else _object_in(call)
        if schema is None or arguments is None:
            return None
        if self._plain_schema(call.tool or "", schema).fits(arguments):
            return None
        properties = schema.get("properties")
        names: Mapping[str, Any] = properties if is_object(properties) else {}
        judged = _unwrapped(arguments, names)
        if names and judged and names.keys().isdisjoint(judged) and call.status != "error":
            return None  # written down in another form than the model's, or the tool would have refused it
        if not judged and call.status != "error":
            return None
        return breach_of(judged, schema)

    def _plain_schema(self, tool: str, schema: dict[str, Any]) -> Plain:
        plain = self._plain.get(tool)
        if plain is None:
            plain = self._plain[tool] = plain_of(schema)
        return plain


def _object_in(call: Call) -> dict[str, Any] | None:
    """Return the arguments as an object, JSON text opened; None when they are none, or not known."""
    value = call.arguments
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return None
    return value if is_object(value) else None


def _unwrapped(arguments: dict[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments inside the one wrapper that frameworks put around them."""
    if len(arguments) != 1 or not names.keys().isdisjoint(arguments):
        return arguments
    ((name, inner),) = arguments.items()
    return inner if name in _WRAPPERS and is_object(inner) else arguments
