from flat_sessions import call, plugin, session_of

from analyzer.session.metrics import count_events


def test_events_are_counted_by_kind_layer_and_tool() -> None:
    session = session_of(
        plugin("tool_call", toolName="read", toolCallId="c1"),
        plugin("tool_result", toolName="read", toolCallId="c1", isError=True),
        plugin("session_end"),
    )

    assert count_events(session.events) == {
        "total_events": 3,
        "by_event_type": {"state_transition": 1, "tool_call": 1, "tool_output": 1},
        "by_source_layer": {"extension_api": 1, "tool_hooks": 2},
        "error_events": 1,
        "tool_calls": {"read": 1},
    }


def test_events_without_a_layer_count_as_unknown() -> None:
    assert count_events(session_of(call()).events)["by_source_layer"] == {"unknown": 1}


def test_a_call_that_two_hooks_report_counts_once() -> None:
    session = session_of(
        plugin("tool_call", toolName="read", toolCallId="c1"),
        plugin("tool_execution_start", toolName="read", toolCallId="c1"),
    )

    assert count_events(session.events)["tool_calls"] == {"read": 1}
