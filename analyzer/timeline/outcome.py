"""Did this call fail? Status is not success: an exit code, an error object or an error text say otherwise.

Rules: design §5. An error text is a result that starts with `Error`, an exception's name and a colon or a traceback,
or an object with a non-empty `error`, a true `is_error` or the status `error`; one content block is looked into.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT, EXIT_CODE, STATUS, Absent, first_given, payload_of, word_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_number, is_object

__all__ = ["Outcome", "Status", "error_text", "message_text", "outcome_of", "unblocked"]

Status: TypeAlias = Literal["ok", "error"]

_STATUSES: Mapping[str, Status] = {
    **dict.fromkeys(("ok", "success", "succeeded", "completed", "done"), "ok"),
    **dict.fromkeys(("error", "failed", "failure", "timeout", "timed_out", "exception"), "error"),
}
_ERROR_TEXT = pattern(
    r"\s*(?:Error\b(?!\s+(?:rates?|handling|codes|budgets?|bars|margins?|correction|logs?|messages|analysis|free)\b)"
    r"|(?i:error)\s*:|Traceback \(most recent call last\)|(?:[A-Za-z_][\w.]*)?(?:Error|Exception)\s*:"
    r"|(?:[A-Za-z_]\w*\.)+[A-Z]\w*(?:Timeout|TimeoutExpired|Interrupt)\s*:"
    r"|(?:KeyboardInterrupt|SystemExit|StopIteration|StopAsyncIteration|GeneratorExit)\s*:)"
)
_EXIT_CODES = ("exit_code", "exitCode")
_VERDICTS = frozenset(("error", "is_error", "isError", "status", *_EXIT_CODES))
_SHORT = 200


class Outcome(NamedTuple):
    """How a call ended: its status (None: nobody says), and what the error says."""

    status: Status | None
    error: str | None = None


def outcome_of(event: Event, result: Json | Absent) -> Outcome:
    """Return the outcome an output tells of."""
    payload = payload_of(event)
    said = _STATUSES.get((word_of(first_given(event, STATUS)) if event.status is None else event.status.lower()) or "")
    error = event.error or payload.get("error")
    found = error_text(result)
    marked = bool(event.extra) or not payload.keys().isdisjoint(_VERDICTS)
    if error or said == "error" or (marked and (_flagged(payload) or _bad_exit(first_given(event, EXIT_CODE)))):
        return Outcome("error", message_text(error) or found or message_text(None if result is ABSENT else result))
    if found is not None:
        return Outcome("error", found)
    return Outcome("ok" if result is not ABSENT else said)


def error_text(result: Json | Absent) -> str | None:
    """Return what a result says of an error, shortened, or None when it tells of none."""
    value = unblocked(result)
    if isinstance(value, str):
        return value.strip()[:_SHORT] if _ERROR_TEXT.match(value) else None
    return _object_error(value) if is_object(value) else None


def unblocked(result: Json | Absent) -> Json | Absent:
    """Return what a result holds: the text of a single content block, the object of a JSON text, else itself."""
    value = result
    if is_object(value) and "content" in value and is_list(value["content"]) and not _flagged(value):
        value = value["content"]
    if is_list(value) and len(value) == 1 and is_object(value[0]) and isinstance(value[0].get("text"), str):
        value = value[0]["text"]
    return _decoded(value) if isinstance(value, str) else value


def _decoded(text: str) -> Json:
    if text[:64].lstrip()[:1] not in ("{", "["):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text


def _object_error(value: dict[str, Any]) -> str | None:
    if value.keys().isdisjoint(_VERDICTS):
        return None
    error = value.get("error")
    if error:
        return message_text(error)
    if (
        _flagged(value)
        or word_of(value.get("status")) == "error"
        or any(_bad_exit(value.get(key)) for key in _EXIT_CODES)
    ):
        said = value.get("message", value.get("content", value.get("text")))
        return message_text(said) or "the result says that it is an error"
    return None


def _flagged(value: dict[str, Any]) -> bool:
    return value.get("is_error") is True or value.get("isError") is True


def _bad_exit(code: Json | Absent) -> bool:
    return is_number(code) and code != 0


def message_text(value: Json) -> str | None:
    """Return an error in words, shortened: its own, or its message; None when it has none."""
    if is_object(value):
        value = value.get("message") or value.get("type") or value
    inner = unblocked(value)
    if inner is None or inner is True or inner == "":
        return None
    return (inner if isinstance(inner, str) else canonical(inner).decode("utf-8", "replace")).strip()[:_SHORT]
