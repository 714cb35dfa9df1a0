"""critiqor's own files among traces: session files and run records are evidence, everything else of ours is not."""

from collections.abc import Mapping
from typing import Any

from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.errors import DecodeError
from critiqor_otel.span import Batch

__all__ = ["is_evidence", "is_own_by_product", "read_evidence"]

_OURS = "critiqor."
_SESSION = "critiqor.session."
_EVENT_NAMES = ("event", "event_type", "type")
_EVENT_PARTS = ("timestamp", "payload", "source_layer", "tool", "tool_name", "event_id")
_RECORD = ("run_id", "status", "lifecycle", "timestamps")  # `runs/<run_id>.json`, whose events lie in the folder
_TRACE_PARTS = ("traceId", "trace_id", "traceID", "context", "traceEvents")


def is_evidence(document: Any) -> bool:
    """Return whether a JSON document is a session file, a run record or a list of events."""
    if is_list(document):
        return bool(document) and all(_is_event(item) for item in document[:3])
    if not is_object(document):
        return False
    schema = document.get("schema_version")
    if isinstance(schema, str) and schema.startswith(_OURS):
        return schema.startswith(_SESSION)
    return is_list(document.get("event_log")) or (is_list(document.get("events")) and _names_a_run(document))


def is_own_by_product(document: Any) -> bool:
    """Return whether a JSON document is a diagnosis, a receipt, a history or a bare run record that critiqor wrote."""
    schema = document.get("schema_version") if is_object(document) else None
    if is_object(document) and all(key in document for key in _RECORD):
        return True
    return isinstance(schema, str) and schema.startswith(_OURS) and not schema.startswith(_SESSION)


def read_evidence(data: bytes) -> Batch:
    """Return the session that the bytes of such a document hold.

    Raises:
        DecodeError: they can't be read as one.
    """
    try:
        return Batch(sessions=(read_session(data),))
    except SessionFileError as error:
        raise DecodeError(f"no session: {error}") from error


def _names_a_run(document: Mapping[str, Any]) -> bool:
    return any(key in document for key in ("run_id", "session_id")) and not any(key in document for key in _TRACE_PARTS)


def _is_event(item: Any) -> bool:
    if not is_object(item) or any(key in item for key in _TRACE_PARTS):
        return False
    return any(isinstance(item.get(key), str) for key in _EVENT_NAMES) and any(key in item for key in _EVENT_PARTS)
