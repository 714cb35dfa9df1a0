"""Steps: which events belong together, what lies in what, how long it took, what failed and was tried again."""

from typing import Any

from analyzer.profile import Profile
from analyzer.report.html.folding import fold
from analyzer.report.html.steps import RunStep, StepKind, steps_of
from analyzer.session.model import Event, Session, SpanRef
from analyzer.timeline.index import build_timeline

SECOND = 1_000_000_000


def event(number: int, kind: str, name: str, span: str | None = None, **fields: Any) -> Event:
    above = fields.pop("above", None)
    payload = fields.pop("payload", {})
    if above is not None:
        payload = {**payload, "otel": {"name": name, "parent_span_id": above}}
    at = fields.pop("time_ns", number * SECOND)
    place = None if span is None else SpanRef("ab" * 16, span)
    return Event(event_id=f"e{number}", event=kind, event_type=name, time_ns=at, span=place, payload=payload, **fields)


def steps(*events: Event) -> list[RunStep]:
    return steps_of(build_timeline(Session(run_id="run", events=events), Profile.STANDARD))


def test_a_call_and_its_output_are_one_step_that_lasts_from_one_to_the_other() -> None:
    (step,) = steps(
        event(1, "tool_call", "tool_call", tool_name="search", tool_call_id="c"),
        event(3, "tool_output", "tool_result", tool_name="search", tool_call_id="c", status="ok"),
    )

    assert (step.kind, step.name, step.events) == (StepKind.TOOL, "search", [0, 1])
    assert (step.start_ns, step.end_ns, step.failed) == (SECOND, 3 * SECOND, False)


def test_a_request_and_its_response_are_one_step_named_by_the_model() -> None:
    (step,) = steps(
        event(1, "state_transition", "before_provider_request", "a1", payload={"model": "m-1", "agent": "helper"}),
        event(2, "token_usage", "after_provider_response", "a1", payload={"model": "m-1"}),
    )

    assert (step.kind, step.name, step.events) == (StepKind.MODEL, "m-1", [0, 1])


def test_steps_lie_in_those_of_their_parent_spans() -> None:
    found = steps(
        event(1, "state_transition", "agent_start", "a", payload={"agent": "root", "otel": {"name": "root"}}),
        event(2, "state_transition", "turn_start", "b", above="a"),
        event(3, "tool_call", "tool_call", "c", above="b", tool_name="t", tool_call_id="c"),
        event(4, "tool_output", "tool_result", "c", tool_name="t", tool_call_id="c"),
        event(5, "error_event", "error", "c", payload={"message": "oh"}),
        event(6, "state_transition", "turn_end", "b"),
        event(7, "state_transition", "agent_end", "a"),
    )

    assert [(step.kind.value, step.parent) for step in found] == [("agent", -1), ("turn", 0), ("tool", 1), ("error", 2)]
    assert found[0].events == [0, 6]


def test_without_spans_what_is_open_holds_what_comes() -> None:
    found = steps(
        event(1, "state_transition", "agent_start", payload={"agent": "root"}),
        event(2, "state_transition", "turn_start"),
        event(3, "decision", "plan"),
        event(4, "state_transition", "turn_end"),
        event(5, "decision", "plan"),
        event(6, "state_transition", "agent_end"),
        event(7, "decision", "plan"),
    )

    assert [step.parent for step in found] == [-1, 0, 1, 0, -1]
    assert found[1].end_ns == 4 * SECOND


def test_one_event_with_a_duration_tells_both_ends() -> None:
    at_its_end, at_its_start = steps(
        event(5, "tool_output", "tool_result", tool_name="t", duration_ms=2000.0),
        event(6, "state_transition", "other", "x", duration_ms=1000.0, above="y"),
    )

    assert (at_its_end.start_ns, at_its_end.end_ns) == (3 * SECOND, 5 * SECOND)
    assert (at_its_start.start_ns, at_its_start.end_ns) == (6 * SECOND, 7 * SECOND)


def test_a_failed_call_and_the_equal_one_after_it_are_marked() -> None:
    calls = [
        part
        for number in (1, 3)
        for part in (
            event(
                number, "tool_call", "tool_call", tool_name="t", tool_call_id=f"c{number}", payload={"input": {"q": 1}}
            ),
            event(
                number + 1,
                "tool_output",
                "tool_result",
                tool_name="t",
                tool_call_id=f"c{number}",
                status="error" if number == 1 else "ok",
                payload={"result": "x"},
            ),
        )
    ]

    first, second = steps(*calls)

    assert (first.failed, first.again) == (True, False)
    assert (second.failed, second.again) == (False, True)


def test_a_span_that_is_its_own_parent_or_lies_in_a_later_one_makes_no_circle() -> None:
    found = steps(
        event(1, "state_transition", "turn_start", "a", above="a"),
        event(2, "state_transition", "turn_start", "b", above="c"),
        event(3, "state_transition", "turn_start", "c", above="b"),
    )

    assert [step.parent for step in found] == [-1, -1, 1]


def test_a_chain_of_twenty_thousand_steps_is_followed() -> None:
    deep = [event(n, "state_transition", "turn_start", f"s{n}", above=f"s{n - 1}") for n in range(20_000)]

    found = steps(*deep)

    assert found[-1].parent == 19_998


def plain(count: int) -> list[RunStep]:
    root = RunStep(kind=StepKind.AGENT, name="root", events=[0], start_ns=0, end_ns=count)
    return [
        root,
        *(RunStep(kind=StepKind.TOOL, name="t", events=[n], parent=0, start_ns=n, end_ns=n) for n in range(1, count)),
    ]


def test_what_is_beyond_the_bound_is_counted_in_the_step_it_lies_in() -> None:
    found, left_out = fold(plain(1_000), set(), 100)

    assert left_out == 900
    assert len(found) == 101
    assert found[-1].name == "900 more steps: 900 tool"
    assert (found[-1].folded, found[-1].parent, found[-1].start_ns, found[-1].end_ns) == (900, 0, 100, 999)


def test_what_failed_and_what_a_failure_points_to_stays() -> None:
    given = plain(1_000)
    given[700].failed = True
    given[800].again = True

    found, _ = fold(given, {900}, 10)

    assert {700, 800, 900} <= {position for step in found for position in step.events}


def test_a_short_run_is_shown_as_it_is() -> None:
    given = plain(50)

    assert fold(given, set(), 50) == (given, 0)
