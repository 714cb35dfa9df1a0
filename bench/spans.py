"""Realistic agent spans from a seed: runs that interleave, OTel GenAI names, twelve attributes, 300-byte arguments."""

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

__all__ = ["write_otlp_json", "write_otlp_protobuf", "write_scattered_json"]

REQUEST = 512  # spans an export request, the SDK's batch size
TOOLS = ("search_docs", "get_price", "read_file", "write_file", "run_tests", "send_mail")
EPOCH_NS = 1_780_000_000_000_000_000
INTERLEAVED = 64  # runs that are under way at one time
ERRORS = 0.05  # of the tool calls

Attributes = dict[str, str | int | list[str]]
Made = tuple[str, str, str | None, str, int, int, int, Attributes, bool]
"""Trace id, span id, parent id, name, kind, start, end, attributes, failed."""


def write_otlp_json(path: Path, *, runs: int, spans: int, seed: int = 1) -> int:
    """Write JSON lines, a request a line, as the Collector's file exporter does; return the number of spans."""
    count = 0
    with path.open("wb") as file:
        for request in _requests(runs, spans, seed):
            count += len(request)
            file.write(msgspec.json.encode({"resourceSpans": [_json_resource(request)]}) + b"\n")
    return count


def write_scattered_json(folder: Path, *, files: int, runs: int, spans: int, seed: int = 1) -> int:
    """Write JSON lines into so many files, every run scattered over all of them; return the number of spans."""
    made = [span for request in _requests(runs, spans, seed) for span in request]
    random.Random(seed).shuffle(made)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        held = made[number::files]
        with (folder / f"part-{number:03d}.jsonl").open("wb") as file:
            for start in range(0, len(held), REQUEST):
                resource = _json_resource(held[start : start + REQUEST])
                file.write(msgspec.json.encode({"resourceSpans": [resource]}) + b"\n")
    return len(made)


def write_otlp_protobuf(path: Path, *, runs: int, spans: int, seed: int = 1) -> int:
    """Write concatenated export requests; return the number of spans."""
    count = 0
    with path.open("wb") as file:
        for request in _requests(runs, spans, seed):
            count += len(request)
            message = ExportTraceServiceRequest(resource_spans=[_protobuf_resource(request)])
            file.write(message.SerializeToString())
    return count


def _requests(runs: int, spans: int, seed: int) -> Iterator[list[Made]]:
    """Yield requests in which up to `INTERLEAVED` runs take turns."""
    chance = random.Random(seed)
    waiting = [_run(random.Random(f"{seed}/{number}"), spans) for number in range(runs)]
    active = [waiting.pop() for _ in range(min(INTERLEAVED, runs))]
    request: list[Made] = []
    while active:
        chosen = chance.randrange(len(active))
        span = next(active[chosen], None)
        if span is None:
            active[chosen : chosen + 1] = [waiting.pop()] if waiting else []
            continue
        request.append(span)
        if len(request) == REQUEST:
            yield request
            request = []
    if request:
        yield request


def _run(chance: random.Random, spans: int) -> Iterator[Made]:
    """Yield one run's spans in the order they end: model and tool calls in turn, the agent's own span last."""
    trace_id, root_id = f"{chance.getrandbits(128):032x}", f"{chance.getrandbits(64):016x}"
    conversation = f"conv-{chance.getrandbits(48):012x}"
    start = now = EPOCH_NS + chance.randrange(10**12)
    for number in range(spans - 1):
        made = _tool(chance, number) if number % 2 else _chat(chance)
        name, kind, attributes, failed = made
        end = now + chance.randrange(10**6, 10**9)
        span_id = f"{chance.getrandbits(64):016x}"
        yield (
            trace_id,
            span_id,
            root_id,
            name,
            kind,
            now,
            end,
            {**attributes, "gen_ai.conversation.id": conversation},
            failed,
        )
        now = end + chance.randrange(10**6)
    yield (trace_id, root_id, None, "invoke_agent support", 1, start, now + 1, _agent(conversation), False)


def _agent(conversation: str) -> Attributes:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "support",
        "gen_ai.agent.version": "4.2",
        "gen_ai.conversation.id": conversation,
    }


def _chat(chance: random.Random) -> tuple[str, int, Attributes, bool]:
    return (
        "chat gpt-4o-mini",
        3,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o-mini",
            "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
            "gen_ai.response.id": f"chatcmpl-{chance.getrandbits(64):016x}",
            "gen_ai.response.finish_reasons": ["tool_calls"],
            "gen_ai.usage.input_tokens": chance.randrange(100, 4000),
            "gen_ai.usage.output_tokens": chance.randrange(10, 400),
            "gen_ai.request.max_tokens": 1024,
            "server.address": "model.example",
            "server.port": 443,
        },
        False,
    )


def _tool(chance: random.Random, number: int) -> tuple[str, int, Attributes, bool]:
    tool = chance.choice(TOOLS)
    failed = chance.random() < ERRORS
    result = "Error: timed out" if failed else f'{{"found":{chance.randrange(10**6)}}}'
    return (
        f"execute_tool {tool}",
        1,
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.description": "A tool of the support agent",
            "gen_ai.tool.call.id": f"call_{number}_{chance.getrandbits(32):08x}",
            "gen_ai.tool.call.arguments": _arguments(chance),
            "gen_ai.tool.call.result": result,
            "gen_ai.agent.name": "support",
            "code.function.name": f"tools.{tool}",
            "thread.id": chance.randrange(1, 9),
            "thread.name": "worker",
        },
        failed,
    )


def _arguments(chance: random.Random) -> str:
    return f'{{"query":"{chance.getrandbits(40):x}","note":"{"x" * 260}","limit":{chance.randrange(100)}}}'


def _json_resource(spans: list[Made]) -> dict[str, object]:
    service = {"key": "service.name", "value": {"stringValue": "support-agent"}}
    scope = {"scope": {"name": "bench", "version": "1"}, "spans": [_json_span(span) for span in spans]}
    return {"resource": {"attributes": [service]}, "scopeSpans": [scope]}


def _json_span(span: Made) -> dict[str, object]:
    trace_id, span_id, parent, name, kind, start, end, attributes, failed = span
    return {
        "traceId": trace_id,
        "spanId": span_id,
        **({} if parent is None else {"parentSpanId": parent}),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": [{"key": key, "value": _json_value(value)} for key, value in attributes.items()],
        "status": {"code": 2} if failed else {},
    }


def _json_value(value: str | int | list[str]) -> dict[str, object]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"arrayValue": {"values": [{"stringValue": item} for item in value]}}


def _protobuf_resource(spans: list[Made]) -> ResourceSpans:
    found = ResourceSpans()
    found.resource.attributes.add(key="service.name", value=AnyValue(string_value="support-agent"))
    scope = found.scope_spans.add()
    scope.scope.name, scope.scope.version = "bench", "1"
    for trace_id, span_id, parent, name, kind, start, end, attributes, failed in spans:
        span: Span = scope.spans.add(
            trace_id=bytes.fromhex(trace_id),
            span_id=bytes.fromhex(span_id),
            parent_span_id=bytes.fromhex(parent or ""),
            name=name,
            kind=kind,  # type: ignore[arg-type]
            start_time_unix_nano=start,
            end_time_unix_nano=end,
            attributes=[KeyValue(key=key, value=_protobuf_value(value)) for key, value in attributes.items()],
        )
        if failed:
            span.status.code = 2  # type: ignore[assignment]
    return found


def _protobuf_value(value: str | int | list[str]) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    found = AnyValue()
    for item in value:
        found.array_value.values.add(string_value=item)
    return found
