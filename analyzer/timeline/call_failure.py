"""Did this call of a tool fail, what does its error say, and which class of errors is that?

A call fails by what its output says (`outcome`). Besides, a short result that is nothing but a refusal
(`404 Not Found`, `{"success": false, "message": …}`) is a failure that the trace takes for a success: rule
`failure-in-result`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.pattern import pattern
from analyzer.session.accessors import payload_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.call import Call
from analyzer.timeline.error_classes import ErrorClass, classify
from analyzer.timeline.outcome import error_text, message_text, unblocked

__all__ = ["CallFailure", "failure_of"]

_SHORT = 240
_END = 400
_TRACEBACK = "Traceback (most recent call last)"
_LONGEST = 2_000  # a longer result holds more than a refusal


class CallFailure(NamedTuple):
    """What is known of a call that failed."""

    text: str
    """What the error says, shortened; empty when nobody says anything."""
    error_class: ErrorClass | None
    told: bool
    """Only the result says so: the trace takes the call for a success."""


def failure_of(call: Call, output: Event | None) -> CallFailure | None:
    """Return the failure of a call with this output, None when it succeeded."""
    if call.status != "error":
        refusal = _refusal(call.result)
        return None if refusal is None else CallFailure(refusal[:_SHORT], classify(refusal), told=True)
    result = _result_text(call.result)
    said = [] if output is None else list(_said(output))
    error_class = classify(*said) if said else None
    if error_class is None:
        error_class = classify(call.error, _telling_end(result))
    text = _last_line(result) or call.error or next(iter(said), "")
    return CallFailure(text[:_SHORT], error_class, told=False)


def _said(output: Event) -> Iterator[str]:
    """Yield what the output says of an error outside of its result: a type, a message, an object as JSON."""
    payload = payload_of(output)
    for value in (payload.get("error_type"), output.error, payload.get("error")):
        if isinstance(value, str) and value:
            yield value
        elif is_object(value):
            yield canonical(value).decode("utf-8", "replace")


def _result_text(result: Json) -> str:
    value = unblocked(result)
    if is_list(value):
        value = next((item for item in value if isinstance(item, str)), None)
    if is_object(value):
        return canonical(value).decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _telling_end(result: str) -> str:
    """Return the end of a result that tells of an error: the beginning of an error text, else the last it printed."""
    is_error = error_text(result) is not None and not result.lstrip().startswith(_TRACEBACK)
    return result[:_END] if is_error else result[-_END:]


def _last_line(result: str) -> str | None:
    """Return the line of a printed traceback that says what happened, None without one."""
    if _TRACEBACK not in result:
        return None
    lines = [line for line in result[-_LONGEST:].splitlines() if line.strip()]
    return lines[-1].strip() if lines else None


_SENTENCE = 80  # a longer text explains more than it refuses
# A result that is nothing but a refusal: it begins with it, and is short.
_REFUSAL = pattern(
    r"\s*(?:(?:http[ /0-9.]{0,6}|status(?: code)?:? ?|error:? )?[45][0-9]{2}\b[ :,-]{1,3}"
    r"(?:bad request|unauthorized|forbidden|not found|request timeout|too many requests|internal server error"
    r"|bad gateway|service unavailable|gateway timeout|unprocessable)"
    r"|(?:[\w/.-]{0,30}sh: )[^\n]{1,120}: (?:command not found|not found|no such file or directory|permission denied)"
    r"|(?:the )?(?:request|operation|command|tool|query|connection|call) (?:has )?timed out\b"
    r"|(?:permission|access) denied\b|rate limit (?:exceeded|reached)\b|too many requests\b"
    r"|(?:unknown tool|no such tool|tool not found)\b|[\w.'\"`-]{1,80} is not a valid tool\b"
    r"|(?:invalid|wrong|missing) (?:arguments?|parameters?)\b"
    r"|请求超时|权限不足|参数错误)",
    re.IGNORECASE,
)
_VERDICTS = ("success", "ok", "succeeded")
_REASONS = ("error", "message", "reason", "detail", "details", "msg", "code")


def _refusal(result: Json) -> str | None:
    if isinstance(result, str) and len(result) > _LONGEST:
        return None
    value = unblocked(result)
    if isinstance(value, str):
        return value.strip() if len(value) <= _SENTENCE and _REFUSAL.match(value) else None
    if not is_object(value) or value.keys().isdisjoint(_VERDICTS):
        return None
    if not any(value.get(name) is False for name in _VERDICTS):
        return None
    said = [text for name in _REASONS if (text := message_text(value.get(name))) is not None]
    return ": ".join(said) or None
