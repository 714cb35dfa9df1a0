"""What kinds of spans are, where more than one table reads them, and how a table knows its spans by their scope."""

from collections.abc import Callable, Mapping

from critiqor_otel.conventions.convention import SpanRole
from critiqor_otel.span import Span

__all__ = ["OPENINFERENCE_KINDS", "in_scope"]

OPENINFERENCE_KINDS = {
    "LLM": SpanRole.MODEL,
    "TOOL": SpanRole.TOOL,
    "AGENT": SpanRole.AGENT,
    "CHAIN": SpanRole.TURN,
    "RETRIEVER": SpanRole.RETRIEVER,
    "RERANKER": SpanRole.RETRIEVER,
    "EMBEDDING": SpanRole.EMBEDDING,
    "GUARDRAIL": SpanRole.EVALUATION,
    "EVALUATOR": SpanRole.EVALUATION,
    "PROMPT": SpanRole.OTHER,
    "UNKNOWN": SpanRole.OTHER,
}
"""Values of `openinference.span.kind`."""


def in_scope(*scopes: str, key: str, kinds: Mapping[str, SpanRole]) -> Callable[[Span], SpanRole | None]:
    """Return the test that gives spans of some instrumentations the role of their kind.

    A scope may go on with a module's name: `openinference.instrumentation.crewai._event_listener`.
    """

    def recognise(span: Span) -> SpanRole | None:
        if not span.scope.name.startswith(scopes):
            return None
        kind = span.attributes.get(key)
        return kinds.get(kind) if isinstance(kind, str) else None

    return recognise
