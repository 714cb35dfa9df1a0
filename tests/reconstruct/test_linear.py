"""Four times the spans take four times as long, whatever shape they have."""

import json
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from analyzer.bulk import bulk_work
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span

MakeSpan = Callable[..., Span]
Shape = Callable[[int], list[Span]]


def asks(number: int) -> str:
    part = {"type": "tool_call", "name": "search", "arguments": {"q": number}}
    return json.dumps([{"role": "assistant", "parts": [part]}])


@pytest.fixture
def shapes(agent: MakeSpan, chat: MakeSpan, tool: MakeSpan, span: MakeSpan) -> dict[str, Shape]:
    def calls(numbers: range, later: int, **rest: Any) -> list[Span]:
        return [tool(number, 1, at=(later + number, later + number + 1), **rest) for number in numbers]

    def requests(numbers: range, later: int, said: Callable[[int], str]) -> list[Span]:
        return [
            chat(number, 1, at=(later + number, later + number + 0.5), gen_ai__output__messages=said(number))
            for number in numbers
        ]

    def late_requests(count: int) -> list[Span]:
        spans = calls(range(2, count), 0, gen_ai__tool__call__arguments='{"q":1}')
        return [agent(1, at=(0, 9 * count)), *spans, *requests(range(count, 2 * count), count, lambda _: asks(1))]

    def requests_nobody_carried_out(count: int) -> list[Span]:
        return [
            agent(1, at=(0, 9 * count)),
            *requests(range(2, count), 0, asks),
            *calls(range(count, 2 * count), count, gen_ai__tool__call__arguments='{"other":1}'),
        ]

    def one_call_id(count: int) -> list[Span]:
        spans = calls(range(2, count), 0, gen_ai__tool__call__id="same")
        return [agent(1, at=(0, 9 * count)), *spans, *requests(range(count, 2 * count), count, asks)]

    def failures_in_depth(count: int) -> list[Span]:
        return [
            span(number, number - 1 or None, at=(number, 9 * count - number), failed=f"failure {number}")
            for number in range(1, count)
        ] + [agent(count, 1, at=(2, 3))]

    def processes_apart(count: int) -> list[Span]:
        runs = [agent(1, trace=2 * number, at=(number, number + 0.5)) for number in range(1, count)]
        embedding: dict[str, Any] = {"gen_ai__operation__name": "embeddings", "gen_ai__request__model": "m"}
        return runs + [span(1, trace=2 * number + 1, at=(number, number + 1), **embedding) for number in range(count)]

    return {
        shape.__name__: shape
        for shape in (late_requests, requests_nobody_carried_out, one_call_id, failures_in_depth, processes_apart)
    }


@pytest.mark.parametrize(
    "name",
    ["late_requests", "requests_nobody_carried_out", "one_call_id", "failures_in_depth", "processes_apart"],
)
def test_time_grows_no_faster_than_the_spans(name: str, shapes: dict[str, Shape]) -> None:
    def seconds(spans: list[Span]) -> float:
        spent: list[float] = []
        for _ in range(2):
            start = process_time()
            with bulk_work():
                reconstruct(spans)
            spent.append(process_time() - start)
        return min(spent)

    small, large = shapes[name](1_500), shapes[name](6_000)

    assert seconds(large) <= 8 * seconds(small)  # a quadratic step makes it sixteen times
