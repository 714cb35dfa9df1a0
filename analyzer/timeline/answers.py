"""What did each model call give back, and why did it stop? One entry a response, in order."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from analyzer.session.accessors import name_of, payload_of
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.model_calls import REPORT
from analyzer.timeline.outcome import message_text

__all__ = ["Answer", "answers_of"]

_NOTHING: frozenset[str] = frozenset()
_NOBODY: list[dict[str, Any]] = []


class Answer(Struct, frozen=True, kw_only=True):
    """One response of a model."""

    position: int
    agent: str | None
    reasons: frozenset[str]
    """Why it stopped, in lower case, as the provider says it."""
    told: bool
    """The trace carries what was said."""
    text: str
    asked: tuple[str, ...]
    """The tools it asks for; an unnamed one is an empty text."""
    error: str | None
    """What went wrong with the call, shortened."""


def answers_of(events: Iterable[tuple[int, Event]]) -> tuple[Answer, ...]:
    """Return the responses among events, each with its position; reports of usage are none."""
    return tuple(_answer(position, event) for position, event in events if name_of(event) != REPORT)


def _answer(position: int, event: Event) -> Answer:
    payload = payload_of(event)
    agent, reasons = payload.get("agent"), payload.get("finish_reasons")
    messages = payload.get("messages")
    told = [message for message in messages if is_object(message)] if is_list(messages) else _NOBODY
    failed = event.status == "error" or bool(event.error)
    return Answer(
        position=position,
        agent=agent if isinstance(agent, str) else None,
        reasons=frozenset(map(_word, reasons)) if is_list(reasons) else _NOTHING,
        told=is_list(messages),
        text="\n".join([text for message in told if isinstance(text := message.get("text"), str)]).strip(),
        asked=tuple([name for message in told if "tool_requests" in message for name in _asked(message)]),
        error=(message_text(event.error) or "the call failed") if failed else None,
    )


def _word(reason: Json) -> str:
    """Return a reason without its enumeration's name: `FinishReason.MAX_TOKENS` is `max_tokens`."""
    return str(reason)[:80].lower().rpartition(".")[2]


def _asked(message: dict[str, Any]) -> Iterator[str]:
    requests = message.get("tool_requests")
    for request in requests if is_list(requests) else ():
        name = request.get("name") if is_object(request) else None
        yield name if isinstance(name, str) else ""
