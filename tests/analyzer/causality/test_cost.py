"""What graph and roots cost: ratios of CPU time within one run, for absolute times differ between machines."""

import time
from collections.abc import Callable

from analyzer.bulk import bulk_work
from analyzer.causality.build import build_graph
from analyzer.causality.decisive import find_roots
from analyzer.causality.roots import failures_of
from analyzer.causality.scene import Scene
from analyzer.cause import FailureCause
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import Profile, find_causes
from analyzer.session.model import Event, Session
from analyzer.timeline.index import Timeline, build_timeline

FAILURES, EVENTS = 10_000, 100_000
LOOPS = 400


def loops(count: int, *, filler: int = 0, error: str | None = None) -> Session:
    """Return a run of so many loops of three equal calls, each call failing where there is an error."""
    events: list[Event] = []

    def put(event: str, event_type: str, **more: object) -> None:
        events.append(
            Event(event_id=f"e{len(events)}", event=event, event_type=event_type, time_ns=len(events) + 1, **more)  # type: ignore[arg-type]
        )

    for number in range(count):
        for turn in range(3):
            named = {"tool_name": "search", "tool_call_id": f"{number}-{turn}"}
            put("tool_call", "tool_call", payload={"input": {"q": f"thing-{number}"}, "agent": "a"}, **named)
            told = {"result": f"nothing about {number}"} if error is None else {}
            put("tool_output", "tool_result", payload=told, error=error, status="error" if error else "ok", **named)
        for place in range(filler):
            put("state_transition", ("turn_start", "turn_end")[place % 2], payload={"name": "turn"})
    return Session(run_id="run", events=tuple(events))


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of the faster of two goes."""
    times: list[float] = []
    for _ in range(2):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def causes_of(timeline: Timeline) -> tuple[FailureCause, ...]:
    return find_causes(timeline, ALL, profile=Profile.STANDARD)[0]


def graph_and_roots(timeline: Timeline, causes: tuple[FailureCause, ...]) -> int:
    scene = Scene(timeline, failures_of(causes, Profile.STANDARD, timeline.position_of))
    graph = build_graph(scene, Profile.STANDARD)
    return len(graph.edges) + len(find_roots(scene).failures)


def timeline_of(session: Session) -> Timeline:
    return build_timeline(session, Profile.STANDARD)


def test_graph_and_roots_of_many_failures_cost_less_than_three_times_the_detectors() -> None:
    session = loops(FAILURES, filler=4)
    assert len(session.events) == EVENTS
    with bulk_work():
        detecting = seconds(lambda: causes_of(timeline_of(session))) - seconds(lambda: timeline_of(session))
        timeline = timeline_of(session)
        causes = causes_of(timeline)
        linking = seconds(lambda: graph_and_roots(timeline, causes))

    assert len(causes) >= FAILURES
    assert linking < 3 * detecting


def test_many_small_loops_cost_no_more_than_each_alone() -> None:
    with bulk_work():
        one = timeline_of(loops(1))
        many = timeline_of(loops(LOOPS))
        of_one = causes_of(one)
        of_many = causes_of(many)
        alone = seconds(lambda: [graph_and_roots(one, of_one) for _ in range(LOOPS)])
        together = seconds(lambda: graph_and_roots(many, of_many))

    assert len(of_many) >= LOOPS
    assert together <= alone


def test_failed_calls_cost_in_proportion_to_their_number() -> None:
    with bulk_work():
        few, many = (timeline_of(loops(count, error="Error: no")) for count in (1_000, 4_000))
        of_few, of_many = causes_of(few), causes_of(many)
        ratio = seconds(lambda: graph_and_roots(many, of_many)) / seconds(lambda: graph_and_roots(few, of_few))

    assert ratio < 6
