"""All detectors together cost at most twice what the six documented ones do, and no more an event in a longer run."""

import gc
import time
from typing import Any

from flat_sessions import Raw, session_of

from analyzer.detectors.detector import Detector
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import diagnose
from analyzer.session.model import Session

DOCUMENTED = {
    *("infinite_tool_loop", "memory_degradation", "ignoring_tool_outputs"),
    *("context_pollution", "cost_explosion", "skill_failure"),
}
SIX = tuple(detector for detector in ALL if detector.failure_type in DOCUMENTED)
WORDS = "parcel harbour barge noon ledger quay crane pilot tide anchor cargo manifest buoy lock canal ferry".split()  # noqa: SIM905


def text(number: int) -> str:
    chosen = (WORDS[(number * 7 + place * 3) % len(WORDS)] for place in range(8))
    return f"{' '.join(chosen)} ord-{number}"


def step(number: int) -> list[Raw]:
    call_id, query = f"c{number}", {"q": text(number)}
    asks = [{"id": call_id, "name": "search", "arguments": query}]
    answer: dict[str, Any] = {
        "model": "gpt-4o",
        "usage": {"input_tokens": 900, "output_tokens": 9},
        "messages": [{"role": "assistant", "text": f"Look for {text(number)}", "tool_requests": asks}],
    }
    asked = {"model": "gpt-4o", "messages": [{"role": "user", "text": text(number + 1)}], "messages_total": number}
    result = {"items": [text(number + 2), text(number + 3)], "n": number}
    tool = {"tool_name": "search", "tool_call_id": call_id}
    return [
        {"event": "state_transition", "event_type": "before_provider_request", "payload": asked},
        {"event": "token_usage", "event_type": "after_provider_response", "payload": answer},
        {"event": "tool_call", "event_type": "tool_call", **tool, "payload": {"input": query}},
        {"event": "tool_output", "event_type": "tool_result", "status": "ok", **tool, "payload": {"result": result}},
    ]


def run_of(steps: int) -> Session:
    return session_of(*(event for number in range(steps) for event in step(number)))


def seconds(session: Session, detectors: tuple[Detector, ...]) -> float:
    """Return the least CPU time of three diagnoses."""
    taken: list[float] = []
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        diagnose(session, detectors=detectors)
        taken.append(time.process_time() - start)
    return min(taken)


def test_all_cost_at_most_twice_what_the_six_do() -> None:
    session = run_of(3_000)

    assert seconds(session, ALL) <= 2 * seconds(session, SIX)


def test_the_cost_grows_with_the_run_not_with_its_square() -> None:
    assert seconds(run_of(4_000), ALL) <= 8 * 2 * seconds(run_of(500), ALL)
