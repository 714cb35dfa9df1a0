"""What critiqor's own recorder, processor and replay put on spans: whose run it is, and the events themselves.

The last of the families: it says whose a span is, and leaves what it is to the others, except for spans that no other
convention has a name for (`critiqor.span.kind`).
"""

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.carriage import CARRIED, FINGERPRINTS, RUN_ID, carried_events
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, FromResource, SpanRole
from critiqor_otel.conventions.remedies import Extra, content_by
from critiqor_otel.conventions.shapes import strings, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_MARKS = CARRIED.union(FINGERPRINTS.values())

_KIND = "critiqor.span.kind"


def _marked(span: Span) -> SpanRole | None:
    held = span.attributes
    if RUN_ID in held or RUN_ID in span.resource.attributes or not _MARKS.isdisjoint(held):
        return SpanRole.OTHER
    return None


CONVENTION = Convention(
    name="critiqor",
    source="docs/session.md",
    known_by="`critiqor.*` attributes",
    kind_key=_KIND,
    kinds={
        "turn": SpanRole.TURN,
        "memory": SpanRole.MEMORY,
        "skill": SpanRole.SKILL,
    },
    recognise=_marked,
    signs=Signs(keys=frozenset({_KIND, RUN_ID, *_MARKS}), resource=frozenset({RUN_ID})),
    fields={
        Field.RUN_ID: (At(RUN_ID, text), FromResource(RUN_ID, text)),
        Field.EVENT: (Everywhere(carried_events),),
        **{Field(name): (At(key, strings if name.endswith("parts") else text),) for name, key in FINGERPRINTS.items()},
    },
    remedies={
        **content_by(
            "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or capture_content=True of RecordingOptions."
        ),
        Fact.TOOL_CALLS: "Wrap each tool with wrap_tool(), or call record_tool_call().",
        Fact.TOOL_ERRORS: "Wrap each tool with wrap_tool(), or pass error to record_tool_output().",
        Fact.MODEL_CALLS: "Call record_llm_call() for each call of a model.",
        Fact.TOKENS: "Pass token_usage to record_llm_call().",
        Extra.AGENT_NAME: "Pass agent to monitor().",
    },
)
