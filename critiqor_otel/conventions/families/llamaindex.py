"""LlamaIndex under OpenInference: tools answer with a ToolOutput, workflows with a `repr` of their last event.

One model call shows as three nested spans (achat, chat, complete). A ReAct agent's calls are text between it and its
model.
"""

from typing import Any

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Field, Salvaged, SpanRole, When
from critiqor_otel.conventions.kinds import OPENINFERENCE_KINDS
from critiqor_otel.conventions.message_views import answered_text
from critiqor_otel.conventions.remedies import OPENINFERENCE_CONTENT, OPENINFERENCE_SESSION, Extra, content_by
from critiqor_otel.conventions.reprs import literal_after
from critiqor_otel.conventions.shapes import flag, inner
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.unwrap import call_keywords, through, tool_output
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_KIND = "openinference.span.kind"
_TOOL = frozenset({"TOOL"})
_STEPS = frozenset({"CHAIN", "AGENT"})
_MODEL = frozenset({"LLM"})


def _of_llamaindex(span: Span) -> SpanRole | None:
    """Tell a workflow's own span from its steps: it is a chain too, `ReActAgent.run`."""
    if not span.scope.name.startswith("openinference.instrumentation.llama_index"):
        return None
    kind = span.attributes.get(_KIND)
    if kind == "CHAIN" and span.name.endswith(".run"):
        return SpanRole.AGENT
    return OPENINFERENCE_KINDS.get(kind) if isinstance(kind, str) else None


_CUT = "..."
_TEXT = "text="


def _last_event(value: Any) -> Any:
    """Return what a workflow's last event says: `StopEvent(result=…text='…')`, which is cut at 200 characters."""
    if not isinstance(value, str) or not value.startswith(("StopEvent(", "AgentOutput(")):
        return None
    whole = literal_after(value, "text")
    if isinstance(whole, str):
        return _answer(whole)
    at = value.find(_TEXT)
    if at < 0 or not value.endswith(_CUT):
        return None
    return Salvaged(_answer(value[at + len(_TEXT) + 1 : -len(_CUT)]), "the text was cut by the instrumentation")


_ANSWER = "Answer:"


def _answer(text: str) -> str:
    """Return what follows `Answer:` in a ReAct agent's text, else the text."""
    _, found, answer = text.rpartition(_ANSWER)
    return answer.strip() if found else text


def _reply(value: Any) -> Any:
    found = answered_text(value)
    return _answer(found) if isinstance(found, str) else found


CONVENTION = Convention(
    name="llamaindex",
    source="https://github.com/Arize-ai/openinference/tree/main/python/instrumentation/openinference-instrumentation-llama-index",
    known_by="the scope `openinference.instrumentation.llama_index`",
    recognise=_of_llamaindex,
    signs=Signs(scopes=("openinference.instrumentation.llama_index",)),
    fields={
        Field.INPUT: (When(_KIND, _STEPS, At("input.value", inner("user_msg"))),),
        Field.OUTPUT: (
            When(_KIND, _STEPS, At("output.value", _last_event)),
            When(_KIND, _MODEL, At("output.value", _reply)),
        ),
        Field.TOOL_ARGUMENTS: (When(_KIND, _TOOL, At("input.value", through(call_keywords))),),
        Field.TOOL_RESULT: (When(_KIND, _TOOL, At("output.value", through(tool_output))),),
        Field.FAILED: (When(_KIND, _TOOL, At("output.value", inner("is_error", shape=flag))),),
    },
    remedies={
        **content_by(OPENINFERENCE_CONTENT),
        Fact.TOOL_ERRORS: OPENINFERENCE_CONTENT,
        Fact.TOKENS: "Use a model class that hands usage on in ChatResponse.raw, or instrument its client.",
        Fact.MODEL_CALLS: "Use a model class of LlamaIndex's own (a subclass of LLM), or instrument its client.",
        Extra.CACHED_INPUT: "Instrument the model's client too, for example with openinference-instrumentation-openai.",
        Extra.CONVERSATION_ID: OPENINFERENCE_SESSION,
    },
)
