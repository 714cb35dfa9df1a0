"""The ids in one piece of JSON: read once a trace, shared by its spans, and what is none is told."""

import re
from typing import Any

from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.decode.ids import SPAN_ID, TRACE_ID, BadIdError, id_from_text, optional_id

__all__ = ["JsonIds"]

_PLAIN_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}", re.ASCII).fullmatch


class JsonIds:
    """Reads the ids of one request; spans of a trace share its id."""

    def __init__(self, findings: Findings) -> None:
        """Tell what is wrong to the findings."""
        self._findings = findings
        self._trace_ids: dict[str, str] = {}

    def trace_id(self, text: Any) -> str:
        """Return the id.

        Raises:
            BadIdError: it is none.
        """
        if isinstance(text, str):
            found = self._trace_ids.get(text)
            if found is None:
                found = self._trace_ids[text] = id_from_text(text, TRACE_ID)
            return found
        return id_from_text(text, TRACE_ID)

    def span_id(self, text: Any) -> str:
        """Return the id.

        Raises:
            BadIdError: it is none.
        """
        if isinstance(text, str) and _PLAIN_SPAN_ID(text):
            return text
        return id_from_text(text, SPAN_ID)

    def parent(self, text: Any) -> str | None:
        """Return the parent's id, None where there is none, or none that can be read (told)."""
        if not text:
            return None
        if isinstance(text, str) and _PLAIN_SPAN_ID(text):
            return text
        return self._optional(text, SPAN_ID, Finding.INVALID_PARENT)

    def reference(self, text: Any, size: int) -> str | None:
        """Return the id of what a log record belongs to, None where it belongs to nothing, or is unreadable (told)."""
        return self._optional(text, size, Finding.INVALID_LINK)

    def _optional(self, text: Any, size: int, finding: Finding) -> str | None:
        try:
            return optional_id(text, size)
        except BadIdError as error:
            self._findings.add(finding, str(error))
            return None
