"""A small agent for `critiqor-otel run`: it asks its search tool the same question again and again.

Its model is a script, so it needs neither network nor account. Its telemetry is stock OpenTelemetry: whatever OTEL_*
variables say, as in any agent. Start it with `critiqor-otel run -- python -m critiqor_otel.cli.demo_agent`.
"""

import json

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Tracer

__all__ = ["main"]

_QUESTION = "What are your opening hours on public holidays?"
_SEARCHES = 4
_TOKENS = 180  # that each turn adds to the conversation
_FOUND: dict[str, list[str] | str] = {"hits": [], "note": "no document matches"}
_ANSWER = "I could not find our opening hours on public holidays."


def main() -> None:
    """Run the agent once, and print its answer."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("demo-agent")
    with tracer.start_as_current_span(
        "invoke_agent support", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support"}
    ):
        for turn in range(_SEARCHES):
            _ask(tracer, turn, {"type": "tool_call", "id": f"call_{turn}", "name": "search", "arguments": _arguments()})
            _search(tracer, turn)
        _ask(tracer, _SEARCHES, {"type": "text", "content": _ANSWER})
    provider.shutdown()
    print(_ANSWER)  # noqa: T201  # what the agent is for


def _arguments() -> dict[str, str]:
    return {"query": _QUESTION}


def _ask(tracer: Tracer, turn: int, part: dict[str, object]) -> None:
    """Call the model, which answers as the script says."""
    asked = [{"role": "user", "parts": [{"type": "text", "content": _QUESTION}]}]
    answered = [{"role": "assistant", "parts": [part]}]
    attributes: dict[str, str | int] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "script-1",
        "gen_ai.usage.input_tokens": _TOKENS * (turn + 1),
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(answered),
    }
    with tracer.start_as_current_span("chat script-1", kind=SpanKind.CLIENT, attributes=attributes):
        pass


def _search(tracer: Tracer, turn: int) -> None:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": f"call_{turn}",
        "gen_ai.tool.call.arguments": json.dumps(_arguments()),
        "gen_ai.tool.call.result": json.dumps(_FOUND),
    }
    with tracer.start_as_current_span("execute_tool search", attributes=attributes):
        pass


if __name__ == "__main__":
    main()
