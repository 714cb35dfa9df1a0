"""Spans for the tests, made short."""

from collections.abc import Callable
from typing import Any

import pytest

from critiqor_otel.span import Link, Resource, Span, SpanEvent, StatusCode

SECOND = 1_000_000_000
START = 1_760_000_000 * SECOND

MakeSpan = Callable[..., Span]


@pytest.fixture
def span() -> MakeSpan:
    """Return a maker of spans: numbers for ids, seconds after a fixed moment for times."""

    def make(  # noqa: PLR0913  # a span has many parts, each with a default
        number: int,
        parent: int | None = None,
        *,
        trace: int = 1,
        name: str = "step",
        at: tuple[float, float] = (0, 1),
        failed: str | None = None,
        events: tuple[SpanEvent, ...] = (),
        links: tuple[tuple[int, int], ...] = (),
        service: str = "agent",
        **attributes: Any,
    ) -> Span:
        return Span(
            trace_id=f"{trace:032x}",
            span_id=f"{number:016x}",
            parent_span_id=None if parent is None else f"{parent:016x}",
            name=name,
            start_ns=START + int(at[0] * SECOND) if at[0] is not None else 0,
            end_ns=START + int(at[1] * SECOND) if at[1] is not None else 0,
            attributes={key.replace("__", "."): value for key, value in attributes.items()},
            status=StatusCode.UNSET if failed is None else StatusCode.ERROR,
            status_message=failed or "",
            events=events,
            links=tuple(Link(f"{one:032x}", f"{other:016x}") for one, other in links),
            resource=Resource({"service.name": service}),
        )

    return make


@pytest.fixture
def agent(span: MakeSpan) -> MakeSpan:
    """Return a maker of agent spans."""
    return lambda number, parent=None, **rest: span(
        number, parent, name="invoke_agent helper", gen_ai__operation__name="invoke_agent", **rest
    )


@pytest.fixture
def chat(span: MakeSpan) -> MakeSpan:
    """Return a maker of model calls."""
    return lambda number, parent=None, **rest: span(
        number, parent, name="chat m", gen_ai__operation__name="chat", gen_ai__request__model="m", **rest
    )


@pytest.fixture
def tool(span: MakeSpan) -> MakeSpan:
    """Return a maker of tool spans; the first word after the parent is the tool's name."""

    def make(number: int, parent: int | None = None, tool_name: str = "search", **rest: Any) -> Span:
        return span(
            number,
            parent,
            name=f"execute_tool {tool_name}",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=tool_name,
            **rest,
        )

    return make
