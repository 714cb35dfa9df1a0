import pytest

from analyzer.session.model import EventKind
from analyzer.session.names import kind_of


@pytest.mark.parametrize("kind", EventKind)
def test_a_kind_is_its_own_name(kind: EventKind) -> None:
    assert kind_of(kind) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tool_execution_start", "tool_call"),
        ("tool_result", "tool_output"),
        ("tool_execution_end", "tool_output"),
        ("memory_search", "memory_event"),
        ("memory_upsert", "memory_event"),
        ("after_provider_response", "token_usage"),
        ("before_provider_request", "state_transition"),
        ("turn_end", "state_transition"),
        ("message_update", "state_transition"),
        ("user_bash", "state_transition"),
        ("skill_load", "skill_event"),
        ("something_new", "something_new"),
    ],
)
def test_an_observed_name_has_its_kind(name: str, kind: str) -> None:
    assert kind_of(name) == kind
