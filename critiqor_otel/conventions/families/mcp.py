"""MCP spans: the transport of a tool call between a client and a server.

One call can show three times (execute_tool, then the client's span, then the server's); the outermost counts. The id
of the JSON-RPC request is no call id and `mcp.session.id` no conversation.
"""

from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import At, Convention, Everywhere, Field, SpanRole
from critiqor_otel.conventions.indexed import nested
from critiqor_otel.conventions.shapes import always, json_value, text
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.conventions.unwrap import mcp_result, through
from critiqor_otel.span import Span

__all__ = ["CONVENTION"]


def _named_after_call(span: Span) -> str | None:
    """Read the tool out of `tools/call get-weather`."""
    method, _, tool = span.name.partition(" ")
    return tool.strip() or None if method == "tools/call" else None


def _other_method(span: Span) -> SpanRole | None:
    return SpanRole.OTHER if span.attributes.get("mcp.method.name") else None


CONVENTION = Convention(
    name="mcp",
    source="https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md",
    known_by="`mcp.method.name`",
    kind_key="mcp.method.name",
    kinds={"tools/call": SpanRole.TOOL},
    recognise=_other_method,
    signs=Signs(keys=frozenset({"mcp.method.name"})),
    fields={
        Field.TOOL_NAME: (At("gen_ai.tool.name", text), At("mcp.tool.name", text), Everywhere(_named_after_call)),
        Field.TOOL_ARGUMENTS: (
            At("gen_ai.tool.call.arguments", json_value),
            Everywhere(nested("mcp.request.argument."), starts=("mcp.request.argument.",)),  # older drafts
        ),
        Field.TOOL_RESULT: (At("gen_ai.tool.call.result", through(mcp_result)),),
        Field.FAILED: (At("error.type", always(answer=True)),),
        Field.ERROR_TYPE: (At("error.type", text), At("rpc.response.status_code", text)),
    },
    remedies={
        Fact.TOOL_ARGUMENTS: "Record gen_ai.tool.call.arguments on tools/call spans (an opt-in attribute).",
        Fact.TOOL_RESULTS: "Record gen_ai.tool.call.result on tools/call spans (an opt-in attribute).",
        **dict.fromkeys(
            (Fact.MODEL_CALLS, Fact.MESSAGES, Fact.TOKENS), "Instrument the agent that calls the server too."
        ),
    },
)
