"""What tools are for, by their names."""

import pytest

from analyzer.timeline.tool_purpose import changes_something, hands_over_to, runs_anything


@pytest.mark.parametrize("tool", ["cancel_order", "sendEmail", "modify_pending_order_items", "delete-file", "Write"])
def test_a_name_that_begins_with_a_change_changes_something(tool: str) -> None:
    assert changes_something(tool)


@pytest.mark.parametrize("tool", ["get_order", "list_changes", "think", "transfer_to_human_agents", "execute_code", ""])
def test_other_names_change_nothing(tool: str) -> None:
    assert not changes_something(tool)


@pytest.mark.parametrize("tool", ["bash", "python_repl", "exec_command", "sql_query", "Task", "computer"])
def test_some_tools_run_anything(tool: str) -> None:
    assert runs_anything(tool)


@pytest.mark.parametrize(
    ("tool", "agent"),
    [
        ("transfer_to_billing", "billing"),
        ("transferBackToSupport", "support"),
        ("handoff_to_billing_agent", "billing_agent"),
        ("delegate_task_to_hotel_finder", "hotel_finder"),
        ("transfer_to_human_agents", ""),
        ("transfer_money", None),
        ("forward_to_email", None),
        ("search", None),
    ],
)
def test_a_hand_over_names_the_agent(tool: str, agent: str | None) -> None:
    assert hands_over_to(tool) == agent
