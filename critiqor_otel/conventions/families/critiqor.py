"""What critiqor's own recorder, processor and replay put on spans: whose run it is, and the events themselves.

The last of the families: it says whose a span is, and leaves what it is to the others, except for spans that no other
convention has a name for (`critiqor.span.kind`).
"""

from critiqor_otel.conventions.carriage import CARRIED, FINGERPRINTS, RUN_ID, carried_events
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, FromResource, SpanRole
from critiqor_otel.conventions.shapes import strings, text
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_PRINT = FINGERPRINTS["input_fingerprint"]


def _marked(span: Span) -> SpanRole | None:
    held = span.attributes
    if RUN_ID in held or _PRINT in held or RUN_ID in span.resource.attributes or not CARRIED.isdisjoint(held):
        return SpanRole.OTHER
    return None


CONVENTION = Convention(
    name="critiqor",
    source="docs/session.md",
    kind_key="critiqor.span.kind",
    kinds={
        "turn": SpanRole.TURN,
        "memory": SpanRole.MEMORY,
        "skill": SpanRole.SKILL,
    },
    recognise=_marked,
    fields={
        Field.RUN_ID: (At(RUN_ID, text), FromResource(RUN_ID, text)),
        Field.EVENT: (Everywhere(carried_events),),
        **{Field(name): (At(key, strings if name.endswith("parts") else text),) for name, key in FINGERPRINTS.items()},
    },
)
