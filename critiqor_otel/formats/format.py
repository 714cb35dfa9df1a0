"""What a file format is made of: how its content is recognised, and how it is read.

There are two kinds. A stream is how bytes hold records one after another; a record format is what one JSON document
means. Every JSON stream may hold every record format, mixed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from msgspec import Struct, field

from critiqor_otel.decode.findings import Findings
from critiqor_otel.span import Batch, LogRecord, Span

__all__ = ["Found", "RecordFormat", "StreamFormat"]


class Found(Struct):
    """What records held; grows while they are read."""

    spans: list[Span] = field(default_factory=list[Span])
    logs: list[LogRecord] = field(default_factory=list[LogRecord])
    skipped: int = 0
    """Records that hold no traces and no logs, passed over on purpose."""


class RecordFormat(Struct, frozen=True, kw_only=True):
    """A meaning of JSON objects."""

    name: str
    source: str
    """Where the layout is written down: an address."""
    recognise: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Sequence[dict[str, Any]], Findings], Found]
    """Objects that `recognise` took, in order; whatever is wrong inside them is told to the findings, never raised."""


class StreamFormat(Struct, frozen=True, kw_only=True):
    """A way in which bytes hold records."""

    name: str
    recognise: Callable[[bytes], bool]
    """Asked with the first bytes of the content, `HEAD` of them at most."""
    read: Callable[[BinaryIO, str], Iterator[Batch]]
    """Yields what each record holds, holding one record at a time; the text is the place for notes.

    Raises UnreadableInputError when nothing at all could be read."""
