"""The whole parts of a JSON document whose end is missing.

A cut document is closed right after the last whole record: a span in its list, a trace in a list of traces. Half a
record is never kept.
"""

import re

from analyzer.pattern import pattern

__all__ = ["close_cut_document"]

_TOKEN = pattern(rb'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)(\s*:)?|[{}\[\]]', re.DOTALL)
_CLOSER = {b"{": b"}", b"[": b"]"}
_LISTS = frozenset(
    (
        *(
            b"resourceSpans",
            b"resource_spans",
            b"batches",
            b"scopeSpans",
            b"scope_spans",
            b"instrumentationLibrarySpans",
        ),
        *(b"resourceLogs", b"resource_logs", b"scopeLogs", b"scope_logs", b"logRecords", b"log_records", b"spans"),
        *(b"data", b"trace", b"traces", b"result", b"results", b"items", b"observations"),
    )
)
_DEEPEST = 16  # brackets around a record, wrappings of APIs among them
_ROOT_LISTS = _LISTS | {b"events", b"event_log"}  # of a session file


def close_cut_document(data: bytes) -> bytes | None:
    """Return a whole document with the whole records of a cut one, or None where it has none."""
    open_at: list[tuple[bytes, bytes]] = []  # bracket and the key before it
    outside = 0  # how many of the open brackets lead to records
    key = b""
    best: tuple[int, bytes] | None = None
    for token in _TOKEN.finditer(data):
        sign = token[0]
        if token[1] is not None:
            key = token[1] if token[2] else b""
        elif sign in _CLOSER:
            leads = outside == len(open_at) and _leads_to_records(sign, key, open_at)
            outside += leads
            open_at.append((sign, key))
            key = b""
        elif open_at:
            open_at.pop()
            outside = min(outside, len(open_at))
            if open_at and outside == len(open_at) and open_at[-1][0] == b"[":
                best = token.end(), b"".join(_CLOSER[bracket] for bracket, _ in reversed(open_at))
    return None if best is None else data[: best[0]] + best[1]


def _leads_to_records(sign: bytes, key: bytes, open_at: list[tuple[bytes, bytes]]) -> bool:
    if len(open_at) > _DEEPEST:
        return False
    if not open_at or not key:
        return True  # the document itself, or an item of a list that leads to records
    return key in (_ROOT_LISTS if len(open_at) == 1 and sign == b"[" else _LISTS)
