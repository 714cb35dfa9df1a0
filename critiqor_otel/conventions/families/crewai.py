"""CrewAI under OpenInference and OpenLLMetry, neither of which sees its model calls.

What it used and said stands in the output of the crew's span: as JSON with OpenInference, as a Python `repr` with
OpenLLMetry, where every span is an `invoke_agent`.
"""

from typing import Any

from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Field, SpanRole
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.kinds import OPENINFERENCE_KINDS
from critiqor_otel.conventions.message_shapes import conversation
from critiqor_otel.conventions.remedies import OPENINFERENCE_CONTENT, OPENINFERENCE_SESSION, Extra, Library, content_by
from critiqor_otel.conventions.reprs import literal_after, literals_after
from critiqor_otel.conventions.shapes import inner, integer, json_value, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.unwrap import through
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_OPENINFERENCE = "openinference.instrumentation.crewai"
_KIND = "openinference.span.kind"


def _of_crewai(span: Span) -> SpanRole | None:
    if span.scope.name.startswith(_OPENINFERENCE):
        return _under_openinference(span)
    attributes = span.attributes
    if span.name == "crewai.workflow" or "crewai.crew.id" in attributes:
        return SpanRole.AGENT
    if "crewai.task.id" in attributes:
        return SpanRole.TURN
    return SpanRole.AGENT if "crewai.agent.id" in attributes else None


def _under_openinference(span: Span) -> SpanRole | None:
    """Tell the crew's own span from its chains: it is the run."""
    kind = span.attributes.get(_KIND)
    if kind == "CHAIN" and span.name.endswith((".kickoff", ".kickoff_async")):
        return SpanRole.AGENT
    return OPENINFERENCE_KINDS.get(kind) if isinstance(kind, str) else None


def _transcript(value: Any) -> Any:
    """Return the messages of the tasks' outputs: under OpenLLMetry a `repr` of them."""
    found = structured(value)
    if not isinstance(found, str):
        return conversation(found)
    messages = [message for task in literals_after(found, "messages") if is_list(task) for message in task]
    return conversation(messages) if messages else None


def _tool_call(value: Any) -> Any:
    """Take the record of `ToolUsage._use` off: `{tool_string, tool, calling}`, where calling may be a `repr`."""
    if not is_object(value) or "calling" not in value or "tool_string" not in value:
        return value
    calling = value["calling"]
    if is_object(calling):
        return calling.get("arguments", value)
    found = literal_after(calling, "arguments") if isinstance(calling, str) else None
    return value if found is None else found


def _used(word: str) -> tuple[At, ...]:
    """Return the places of a count: an object, a `repr` of one, and words with counts (`prompt_tokens=490 …`)."""
    return (
        At("crewai.crew.usage_metrics", inner(word, shape=integer)),
        At("crewai.crew.token_usage", lambda value: _word(value, word)),
        At("output.value", inner("token_usage", word, shape=integer)),
    )


def _word(value: Any, word: str) -> int | None:
    pairs = dict(pair.split("=", 1) for pair in value.split() if "=" in pair) if isinstance(value, str) else {}
    return integer(pairs[word]) if word in pairs else None


_TOOL_SPANS = "Use openinference-instrumentation-crewai instead of OpenLLMetry's: it writes a span a tool call."
_MODEL_SPANS = "Instrument the model's client too, for example with openinference-instrumentation-openai or -litellm."

CONVENTION = Convention(
    name="crewai",
    source="https://github.com/traceloop/openllmetry/tree/main/packages/opentelemetry-instrumentation-crewai",
    known_by="the scope `openinference.instrumentation.crewai`, `crewai.*` attributes, or the name `crewai.workflow`",
    recognise=_of_crewai,
    signs=Signs(
        keys=frozenset({"crewai.crew.id", "crewai.task.id", "crewai.agent.id"}),
        scopes=(_OPENINFERENCE,),
        names=("crewai.workflow",),
    ),
    fields={
        Field.AGENT_NAME: (
            At("gen_ai.agent.name", text),
            At("crewai.agent.role", text),
            At("crewai.task.agent", text),
            At("crewai.crew.name", text),
            At("graph.node.id", text),
        ),
        Field.INPUT: (At("crewai.task.description", text),),
        Field.OUTPUT: (
            At("crewai.crew.result", json_value),
            At("output.value", inner("raw")),
            At("traceloop.entity.output", json_value),
        ),
        Field.MODEL: (At("crewai.agent.llm", text),),
        Field.INPUT_TOKENS: _used("prompt_tokens"),
        Field.OUTPUT_TOKENS: _used("completion_tokens"),
        Field.CACHED_INPUT_TOKENS: _used("cached_prompt_tokens"),
        Field.CACHE_WRITE_TOKENS: _used("cache_creation_tokens"),
        Field.REASONING_TOKENS: _used("reasoning_tokens"),
        Field.TRANSCRIPT: (
            At("crewai.crew.tasks_output", _transcript),
            At("output.value", inner("tasks_output", shape=_transcript)),
        ),
        Field.TOOL_ARGUMENTS: (At("input.value", through(_tool_call)),),
    },
    remedies={
        **dict.fromkeys((Fact.TOOL_CALLS, Fact.TOOL_ARGUMENTS, Fact.TOOL_RESULTS, Fact.TOOL_ERRORS), _TOOL_SPANS),
        **dict.fromkeys((Fact.MODEL_CALLS, Fact.MESSAGES, Fact.TOKENS), _MODEL_SPANS),
    },
    libraries=(
        Library(
            name="OpenInference",
            scopes=(_OPENINFERENCE,),
            remedies={
                **content_by(OPENINFERENCE_CONTENT),
                **dict.fromkeys((Fact.MODEL_CALLS, Fact.MESSAGES, Fact.TOKENS), _MODEL_SPANS),
                Extra.CONVERSATION_ID: OPENINFERENCE_SESSION,
            },
        ),
    ),
)
