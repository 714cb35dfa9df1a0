"""Traces that somebody wrote to hurt who reads them: each about a megabyte, each of one kind of malice."""

import json
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["HOSTILE", "MEGABYTE"]

MEGABYTE = 1 << 20
TRACE = "5b8efff798038103d269b633813fc60c"
START = 1_700_000_000_000_000_000


def request(spans: list[dict[str, Any]]) -> bytes:
    scope = {"scope": {"name": "agent"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [scope]}]}).encode()


def span(number: int, attributes: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{number + 1:016x}",
        "name": "execute_tool search",
        "kind": 1,
        "startTimeUnixNano": str(START + number * 1_000_000),
        "endTimeUnixNano": str(START + number * 1_000_000 + 500_000),
        "attributes": [{"key": key, "value": value} for key, value in attributes.items()],
        **fields,
    }


def text(value: str) -> dict[str, str]:
    return {"stringValue": value}


def tool(arguments: str, result: str = "[]", name: str = "search") -> dict[str, Any]:
    return {
        "gen_ai.operation.name": text("execute_tool"),
        "gen_ai.tool.name": text(name),
        "gen_ai.tool.call.arguments": text(arguments),
        "gen_ai.tool.call.result": text(result),
    }


def one_text(value: str) -> Callable[[], bytes]:
    """Return a run whose every text is the value: arguments, result, messages, error, name."""

    def make() -> bytes:
        whole = (value * (MEGABYTE // max(len(value), 1) // 5 + 1))[: MEGABYTE // 5]
        messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": whole}]}])
        answer = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": whole}]}])
        chat = {
            "gen_ai.operation.name": text("chat"),
            "gen_ai.request.model": text("gpt-4o"),
            "gen_ai.input.messages": text(messages),
            "gen_ai.output.messages": text(answer),
        }
        failed = {"status": {"code": 2, "message": whole}}
        return request([span(0, chat), span(1, tool(whole, whole), **failed)])

    return make


def many_attributes() -> bytes:
    return request([span(0, tool("{}") | {f"key.{number}": {"intValue": "1"} for number in range(25_000)})])


def deep_value() -> bytes:
    levels = 20_000
    value = '{"arrayValue":{"values":[' * levels + '{"boolValue":true}' + "]}}" * levels
    whole = request([span(0, tool("{}") | {"deep": text("here")})])
    return whole.replace(b'{"stringValue": "here"}', value.encode())


def deep_json_text() -> bytes:
    return request([span(0, tool("[" * 400_000, "[" * 200_000 + "]" * 200_000))])


def json_in_json() -> bytes:
    inner = "{}"
    while len(inner) < MEGABYTE // 4:
        inner = json.dumps({"arguments": inner})
    return request([span(0, tool(inner, inner))])


def many_calls_of_one_id() -> bytes:
    return request([span(number, tool("{}") | {"gen_ai.tool.call.id": text("same")}) for number in range(1_600)])


def all_at_one_instant() -> bytes:
    same = {"startTimeUnixNano": str(START), "endTimeUnixNano": str(START)}
    return request([span(number, tool(f'{{"n": {number}}}'), **same) for number in range(2_000)])


def parents_in_a_ring() -> bytes:
    count = 1_800
    return request([span(n, tool("{}"), parentSpanId=f"{(n + 1) % count + 1:016x}") for n in range(count)])


def chain_of_parents() -> bytes:
    return request([span(n, tool("{}"), parentSpanId=f"{n:016x}" if n else "") for n in range(1_800)])


def one_span_id() -> bytes:
    return request([span(0, tool(f'{{"n": {n}}}')) for n in range(2_000)])


def crowd_of_events() -> bytes:
    events = [{"name": f"event {n}", "timeUnixNano": str(START), "attributes": []} for n in range(14_000)]
    return request([span(0, tool("{}"), events=events)])


def crowd_of_links() -> bytes:
    links = [{"traceId": f"{n + 1:032x}", "spanId": f"{n + 1:016x}"} for n in range(10_000)]
    return request([span(0, tool("{}"), links=links)])


def long_numbers() -> bytes:
    return request([span(0, tool(f'{{"n": {"9" * 500_000}}}', f"[1e{'9' * 300_000}]"))])


def crowd_of_messages() -> bytes:
    parts = [
        {"role": "user" if n % 2 else "assistant", "parts": [{"type": "text", "content": f"m{n}"}]}
        for n in range(9_000)
    ]
    chat = {"gen_ai.operation.name": text("chat"), "gen_ai.input.messages": text(json.dumps(parts))}
    return request([span(0, chat)])


def growing_histories() -> bytes:
    history: list[dict[str, Any]] = []
    spans = []
    for number in range(130):
        history.append({"role": "user", "parts": [{"type": "text", "content": f"question {number} {'x' * 20}"}]})
        chat = {"gen_ai.operation.name": text("chat"), "gen_ai.input.messages": text(json.dumps(history))}
        spans.append(span(number, chat))
    return request(spans)


def crowd_of_tools() -> bytes:
    return request([span(n, tool(f'{{"n": {n}}}', name=f"tool_{n}")) for n in range(2_000)])


HOSTILE: Mapping[str, Callable[[], bytes]] = {
    "one letter": one_text("a"),
    "spaces": one_text(" "),
    "brackets": one_text("["),
    "quotes": one_text('"'),
    "backslashes": one_text("\\"),
    "slashes": one_text("/"),
    "digits": one_text("1"),
    "dashes": one_text("-"),
    "dots": one_text("a."),
    "at signs": one_text("a@"),
    "colons": one_text("a: "),
    "lines": one_text("\n"),
    "words": one_text("the error was not found "),
    "addresses": one_text("http://a:b@c/ "),
    "half secrets": one_text("password"),
    "long key": one_text("token_password="),
    "base64": one_text("Ab1+"),
    "observations": one_text("Observation: "),
    "actions": one_text("Action: a\nAction Input: "),
    "errors": one_text("Error: timed out: 429 Too Many Requests "),
    "tracebacks": one_text("Traceback (most recent call last):\n  File "),
    "code fences": one_text("```python\n"),
    "sentences": one_text("I have sent the email. "),
    "limits": one_text("in at most 100 words, "),
    "tags": one_text("<tool_call>"),
    "half braces": one_text('{"a":'),
    "ideographs": one_text("退款政策"),
    "combining marks": one_text("e\u0301"),
    "many attributes": many_attributes,
    "deep value": deep_value,
    "deep JSON text": deep_json_text,
    "JSON in JSON": json_in_json,
    "many calls of one id": many_calls_of_one_id,
    "all at one instant": all_at_one_instant,
    "parents in a ring": parents_in_a_ring,
    "chain of parents": chain_of_parents,
    "one span id": one_span_id,
    "crowd of events": crowd_of_events,
    "crowd of links": crowd_of_links,
    "long numbers": long_numbers,
    "crowd of messages": crowd_of_messages,
    "growing histories": growing_histories,
    "crowd of tools": crowd_of_tools,
}
