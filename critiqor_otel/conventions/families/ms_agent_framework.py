"""Microsoft Agent Framework's workflow spans; its agents, calls and tools are OTel GenAI spans."""

from critiqor_otel.conventions.convention import At, Convention, Field, SpanRole
from critiqor_otel.conventions.remedies import AGENT_FRAMEWORK_CONTENT, content_by
from critiqor_otel.conventions.shapes import text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]

_NAMES = {
    "workflow.run": SpanRole.AGENT,
    "workflow.build": SpanRole.SETUP,
    "executor.process": SpanRole.TURN,
    "edge_group.process": SpanRole.OTHER,
    "message.send": SpanRole.OTHER,
}


def _workflow_span(span: Span) -> SpanRole | None:
    """Tell what a span of the framework's scope is: names may go on with the id of what they are about."""
    if span.scope.name != "agent_framework":
        return None
    return _NAMES.get(span.name.partition(" ")[0])


CONVENTION = Convention(
    name="ms-agent-framework",
    source="https://github.com/microsoft/agent-framework/blob/main/python/packages/core/agent_framework/observability.py",
    known_by="the scope `agent_framework` and a span name like `workflow.run`",
    recognise=_workflow_span,
    signs=Signs(scopes=("agent_framework",)),
    fields={
        Field.AGENT_NAME: (At("workflow.name", text), At("executor.id", text), At("workflow.id", text)),
        Field.ERROR_TYPE: (At("error.type", text),),
        Field.ERROR_MESSAGE: (At("error.message", text),),
    },
    remedies=content_by(AGENT_FRAMEWORK_CONTENT),
)
