"""smolagents under OpenInference: the agent's span carries the sum of its calls, which a custom model alone shows."""

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, When
from critiqor_otel.conventions.kinds import OPENINFERENCE_KINDS, in_scope
from critiqor_otel.conventions.remedies import OPENINFERENCE_CONTENT, OPENINFERENCE_SESSION, Extra, content_by
from critiqor_otel.conventions.shapes import inner
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_KIND = "openinference.span.kind"
_AGENT = frozenset({"AGENT"})


def _agent(span: Span) -> str | None:
    """Read the agent out of `support_agent.run`, or its class where it has no name."""
    return span.name.removesuffix(".run") or None


_MODEL_SPANS = "Use a model class of smolagents itself, such as OpenAIModel or LiteLLMModel, or instrument its client."

CONVENTION = Convention(
    name="smolagents",
    source="https://github.com/Arize-ai/openinference/tree/main/python/instrumentation/openinference-instrumentation-smolagents",
    known_by="the scope `openinference.instrumentation.smolagents`",
    recognise=in_scope("openinference.instrumentation.smolagents", key=_KIND, kinds=OPENINFERENCE_KINDS),
    signs=Signs(scopes=("openinference.instrumentation.smolagents",)),
    fields={
        Field.AGENT_NAME: (When(_KIND, _AGENT, Everywhere(_agent)),),
        Field.INPUT: (When(_KIND, _AGENT, At("input.value", inner("task"))),),
    },
    remedies={
        **content_by(OPENINFERENCE_CONTENT),
        Fact.MODEL_CALLS: _MODEL_SPANS,
        Fact.MESSAGES: _MODEL_SPANS,
        Fact.TOKENS: _MODEL_SPANS,
        Extra.CONVERSATION_ID: OPENINFERENCE_SESSION,
    },
)
