from pathlib import Path
from typing import Any

import pytest

from analyzer.evaluation import (
    AgentProfile,
    History,
    MemoryRoster,
    Roster,
    benchmark_run,
    generate_leaderboard,
    register_agent,
    submit_run,
)


@pytest.fixture(params=["memory", "store"])
def roster(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        yield MemoryRoster()
    else:
        with History(tmp_path / "history.sqlite") as history:
            yield history


def test_agents_are_ranked_by_average_and_equals_share_their_percentile(roster: Roster) -> None:
    for agent_id, scores in (("a", [92, 90]), ("b", [89]), ("c", []), ("d", [91])):
        register_agent(agent_id, category="coding", roster=roster)
        for score in scores:
            submit_run(agent_id, {"trust_score": score}, roster=roster)

    board = generate_leaderboard("coding", roster=roster)

    assert [(entry.rank, entry.agent_id, entry.trust_score, entry.percentile) for entry in board.rankings] == [
        (1, "a", 91, 100),
        (2, "d", 91, 100),
        (3, "b", 89, 33),
    ]


def test_a_submitted_run_registers_its_agent_in_the_run_s_category(roster: Roster) -> None:
    submit_run("a", {"trust_score": 80, "category": "research"}, roster=roster)
    submit_run("b", benchmark_run({"trust_score": 70}, agent_type="research"), roster=roster)
    submit_run("c", {"trust_score": 60}, roster=roster)

    assert [entry.agent_id for entry in generate_leaderboard("Research Agents", roster=roster).rankings] == ["a", "b"]
    assert [entry.agent_id for entry in generate_leaderboard(roster=roster).rankings] == ["c"]


def test_a_submitted_run_is_kept_as_the_agent_s(roster: Roster) -> None:
    record = submit_run("a", {"trust_score": 80, "agent_id": "other"}, roster=roster)

    assert record.agent_id == "a"
    assert roster.trust_scores() == {"a": [80]}


def test_registering_again_changes_the_profile_and_keeps_the_place(roster: Roster) -> None:
    register_agent("a", roster=roster)
    register_agent(AgentProfile("b"), roster=roster)
    register_agent({"agent_id": "a", "metadata": {"team": "x"}}, "Ada", roster=roster)

    assert roster.profiles() == [AgentProfile("a", "Ada", "general", {"team": "x"}), AgentProfile("b")]


@pytest.mark.parametrize("agent", ["", "  ", {}, AgentProfile("")], ids=["empty", "blank", "dict", "profile"])
def test_an_agent_needs_an_id(agent: Any, roster: Roster) -> None:
    with pytest.raises(ValueError, match="needs an id"):
        register_agent(agent, roster=roster)


def test_ids_that_no_encoding_holds_are_kept_apart(roster: Roster) -> None:
    submit_run("a\ud800", {"trust_score": 1}, roster=roster)

    assert roster.knows("a\ud800")
    assert not roster.knows("a")


def test_the_documented_functions_share_one_roster() -> None:
    register_agent("shared-agent", category="customer-support")
    submit_run("shared-agent", {"trust_score": 88})

    assert "shared-agent" in [entry.agent_id for entry in generate_leaderboard("support").rankings]
