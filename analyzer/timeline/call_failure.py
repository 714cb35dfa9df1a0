"""Did this call of a tool fail, what does its error say, and which class of errors is that?

A call fails by what its output says (`outcome`). Besides, a short result that is nothing but a refusal
(`404 Not Found`, `{"success": false, "message": …}`) is a failure that the trace takes for a success: rule
`failure-in-result`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.session.accessors import payload_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.call import Call
from analyzer.timeline.error_classes import ErrorClass, classify
from analyzer.timeline.outcome import message_text, unblocked

__all__ = ["CallFailure", "failure_of"]

_SHORT = 240
_END = 400
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
    if call.status == "error":
        payload = {} if output is None else payload_of(output)
        error_type = payload.get("error_type")
        said = [error_type if isinstance(error_type, str) else None, call.error, *_ends(call.result)]
        error = None if output is None else output.error
        if is_object(error):
            said.append(canonical(error).decode("utf-8", "replace"))
        text = next((part for part in (call.error, *said) if part), "")
        return CallFailure(text[:_SHORT], classify(*said), told=False)
    refusal = _refusal(call.result)
    return None if refusal is None else CallFailure(refusal[:_SHORT], classify(refusal), told=True)


def _ends(result: Json) -> Iterator[str]:
    value = unblocked(result)
    if is_list(value):
        value = next((item for item in value if isinstance(item, str)), None)
    text = canonical(value).decode("utf-8", "replace") if is_object(value) else value
    if isinstance(text, str):
        yield text[:_END]
        if len(text) > _END:
            yield text[-_END:]


_SENTENCE = 80  # a longer text explains more than it refuses
# A result that is nothing but a refusal: it begins with it, and is short.
_REFUSAL = re.compile(
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
    if not is_object(value) or not any(value.get(name) is False for name in _VERDICTS):
        return None
    said = [text for name in _REASONS if (text := message_text(value.get(name))) is not None]
    return ": ".join(said) or None
