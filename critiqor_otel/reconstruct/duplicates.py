"""One span, however often it was delivered."""

from collections.abc import Iterable

import msgspec

from critiqor_otel.conventions.carriage import ANNOTATION
from critiqor_otel.span import Span

__all__ = ["Deduplicated", "deduplicate"]


class Deduplicated(msgspec.Struct, frozen=True):
    """The distinct spans, by address; how many deliveries were repeats; and which spans came in several versions."""

    spans: dict[tuple[str, str], Span]
    repeats: int
    versions: frozenset[tuple[str, str]]
    annotations: int
    """Spans that tell verdicts of ours: they were left out."""


def deduplicate(spans: Iterable[Span]) -> Deduplicated:
    """Keep one span an address (trace id, span id).

    Equal deliveries are exporter retries. Of different versions the one that ended later is the fuller account.
    """
    kept: dict[tuple[str, str], Span] = {}
    versions: set[tuple[str, str]] = set()
    repeats = annotations = 0
    for span in spans:
        if ANNOTATION in span.attributes:
            annotations += 1
            continue
        address = (span.trace_id, span.span_id)
        other = kept.setdefault(address, span)
        if other is span:
            continue
        repeats += 1
        if other == span or repr(other) == repr(span):  # NaN is not equal to itself
            continue
        versions.add(address)
        if _fullness(span) > _fullness(other):
            kept[address] = span
    return Deduplicated(kept, repeats, frozenset(versions), annotations)


def _fullness(span: Span) -> tuple[int, int, int, str]:
    """Order versions of a span; the last part only makes the choice independent of arrival."""
    return span.end_ns, len(span.attributes), len(span.events), repr(span)
