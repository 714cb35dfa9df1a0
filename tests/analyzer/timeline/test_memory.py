from typing import Any

import pytest
from flat_sessions import plugin, session_of

from analyzer.profile import Profile
from analyzer.timeline.index import build_timeline
from analyzer.timeline.memory import MemoryOperation

SPAN = {"trace_id": "t", "span_id": "s"}


def operations(*events: Any) -> tuple[MemoryOperation, ...]:
    return build_timeline(session_of(*events), Profile.STANDARD).memory


def copy(observed_as: str, **payload: Any) -> dict[str, Any]:
    return plugin("memory_search", toolName="memory_search", toolCallId="m1", observed_as=observed_as, **payload)


def test_the_copies_that_a_plugin_makes_are_one_look_up() -> None:
    names = ("tool_call", "tool_execution_start", "tool_execution_end", "tool_result")

    assert len(operations(*map(copy, names))) == 1


def test_an_id_that_is_used_again_is_another_look_up() -> None:
    assert len(operations(*map(copy, ("tool_call", "tool_result", "tool_call", "tool_result")))) == 2


def test_start_and_end_of_a_span_are_one_operation() -> None:
    start = {"event_type": "memory_search", "span": SPAN, "payload": {"operation": "search"}}
    end = {"event_type": "memory_search", "span": SPAN, "status": "ok", "payload": {"record_count": 0}}

    (operation,) = operations(start, end)

    assert (operation.failed, operation.found_nothing) == (False, True)


def test_events_that_nothing_ties_are_operations_of_their_own() -> None:
    assert len(operations({"event": "memory_event"}, {"event": "memory_event"})) == 2


def test_a_look_up_that_failed_found_an_error_not_nothing() -> None:
    (operation,) = operations(copy("tool_result", isError=True, result=[]))

    assert (operation.failed, operation.found_nothing) == (True, False)


def test_a_look_up_whose_result_text_holds_no_findings_found_nothing() -> None:
    (operation,) = operations(copy("tool_result", result=[{"type": "text", "text": '{"results": []}'}]))

    assert operation.found_nothing


def test_storing_nothing_is_no_miss() -> None:
    (operation,) = operations({"event_type": "memory_store", "payload": {"record_count": 0}})

    assert not operation.found_nothing


def test_a_result_that_is_not_carried_is_no_miss() -> None:
    (operation,) = operations(copy("tool_result"))

    assert (operation.failed, operation.found_nothing) == (False, False)


@pytest.mark.parametrize("action", [["stored"], {"stored": 1}, 1, True])
def test_an_action_that_is_no_text_says_nothing(action: Any) -> None:
    (operation,) = operations({"event": "memory_event", "action": action})

    assert (operation.failed, operation.found_nothing, operation.changes) == (False, False, False)
