"""Which model calls there were, what each reports, and what it proves about tools."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from analyzer.session.accessors import name_of, payload_of
from analyzer.session.model import Event, Json, SpanRef
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.queues import Queues
from analyzer.timeline.tokens import Usage, usage_of

__all__ = ["REPORT", "REQUEST", "ModelCall", "ModelCalls"]

REQUEST = "before_provider_request"
REPORT = "usage_report"
"""Tokens that no visible model call accounts for (docs/session.md)."""

# Finish reasons with which providers say that the model asked for a tool.
_TOOL_REASONS = frozenset(("tool_calls", "tool_call", "tool_use", "tool-calls", "function_call", "tooluse"))


_NOTHING: dict[str, Any] = {}


class ModelCall(Struct, frozen=True, kw_only=True):
    """One request to a model and its response; either may be missing."""

    request_id: str | None
    response_id: str | None
    usage: Usage | None
    messages: bool
    """The trace carries messages of it."""
    shows_tools: bool
    """The trace would show it if the model had asked for a tool, and shows that it did not."""
    request: dict[str, Any]
    """What the payload of the request tells; nothing without one."""
    response: dict[str, Any]


class ModelCalls:
    """Requests and responses as they come; those of one span are one call, others are paired in order."""

    def __init__(self) -> None:
        self._calls: list[list[Event | None]] = []
        self._open: Queues[SpanRef | None, list[Event | None]] = Queues()
        self.reports: list[Event] = []

    def request(self, event: Event) -> None:
        """Take what was sent to a model."""
        call: list[Event | None] = [event, None]
        self._calls.append(call)
        self._open.put(event.span, call)

    def usage(self, event: Event) -> None:
        """Take what came back, or a report of tokens that no call accounts for."""
        if name_of(event) == REPORT:
            self.reports.append(event)
            return
        waiting = self._open.take(event.span)
        if waiting is None:
            self._calls.append([None, event])
        else:
            waiting[1] = event

    def hidden(self, call_ids: Iterable[str | None]) -> bool:
        """Return whether a model asked for one of these calls where no trace shows it.

        The proof is the history a later request sends: an answer that asks for the call, and no visible response
        gave that answer.
        """
        told: set[str] = set()
        shown: set[str] = set()
        for request, response in self._calls:
            for event, ids in ((request, told), (response, shown)):
                messages = None if event is None else payload_of(event).get("messages")
                if is_list(messages):
                    ids.update(_asked(messages))
        return not (told - shown).isdisjoint(call_ids)

    def all(self) -> list[ModelCall]:
        """Return the calls in order of their first event."""
        return [_model_call(request, response) for request, response in self._calls]


def _model_call(request: Event | None, response: Event | None) -> ModelCall:
    answer = _NOTHING if response is None else payload_of(response)
    question = _NOTHING if request is None else payload_of(request)
    told = "messages" in answer
    return ModelCall(
        request_id=None if request is None else request.event_id,
        response_id=None if response is None else response.event_id,
        usage=None if response is None else usage_of(response),
        messages=told or "messages" in question,
        shows_tools=told or _asks_for_none(answer.get("finish_reasons")),
        request=question,
        response=answer,
    )


def _asked(messages: list[Json]) -> Iterator[str]:
    """Yield the ids of the calls that messages ask for."""
    for message in messages:
        requests = message.get("tool_requests") if is_object(message) else None
        for request in requests if is_list(requests) else ():
            if is_object(request) and isinstance(request.get("id"), str):
                yield request["id"]


def _asks_for_none(reasons: Json) -> bool:
    """Return whether there are finish reasons, and none of them says that the model asked for a tool."""
    if not reasons or not is_list(reasons):
        return False
    return all(str(reason).lower() not in _TOOL_REASONS for reason in reasons)
