"""Did two calls teach the same? Results are compared without what changes by nature.

Left out are the envelope's ids (call, chunk, request, trace), times and durations: the keys of `_VOLATILE` at the top
of a result, in its content blocks and in its `metadata`, and lines such as `Wall time: 0.1 s` in a text.
"""

import re
from typing import Any

from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT, Absent
from analyzer.session.jsontext import canonical
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.outcome import unblocked

__all__ = ["result_key"]

_VOLATILE = frozenset(
    (
        *(
            "callid",
            "toolcallid",
            "tooluseid",
            "chunkid",
            "requestid",
            "traceid",
            "spanid",
            "messageid",
            "invocationid",
        ),
        *("timestamp", "timestampms", "walltime", "walltimems", "walltimeseconds", "duration", "durationms"),
        *(
            "durationseconds",
            "elapsed",
            "elapsedms",
            "elapsedseconds",
            "latency",
            "latencyms",
            "tookms",
            "executiontime",
        ),
        *("startedat", "endedat", "finishedat", "starttime", "endtime", "requestedat", "respondedat", "servertime"),
    )
)
_ENVELOPES = frozenset(("metadata", "meta", "details", "headers", "trace"))
_VOLATILE_LINES = pattern(
    r"^[ \t]*(?:(?:chunk|call|tool call|request|trace)[ _-]?id|wall time|elapsed|duration|timestamp|took)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_LONG_ID = 8  # a shorter one may well be a word of the result
_MESSAGE_IDS = frozenset(("tool_call_id", "toolCallId", "tool_use_id", "call_id"))


def result_key(result: Json | Absent, call_id: str | None) -> bytes | None:
    """Return bytes that are equal for equal results, or None when the result is not known."""
    if result is ABSENT:
        return None
    value = unblocked(result)
    if is_object(value) and "content" in value and not _MESSAGE_IDS.isdisjoint(value):
        value = unblocked(value["content"])
    # What consists of a time alone was asked for: it is the content.
    key = canonical(_lasting(value) or value)
    own_id = call_id.encode("utf-8", "replace") if call_id and len(call_id) >= _LONG_ID else b""
    return key.replace(own_id, b"") if own_id else key


def _lasting(value: Json | Absent) -> Any:
    if isinstance(value, str):
        return _VOLATILE_LINES.sub("", value).strip()
    if is_object(value):
        return {
            name: _stripped(item) if _plain(name) in _ENVELOPES else item
            for name, item in value.items()
            if _plain(name) not in _VOLATILE
        }
    if is_list(value):
        return [_stripped(item) for item in value]
    return value


def _stripped(value: Json) -> Json:
    if not is_object(value):
        return value
    return {name: item for name, item in value.items() if _plain(name) not in _VOLATILE}


def _plain(name: Any) -> str:
    return str(name).lower().replace("_", "").replace("-", "").replace(" ", "")
