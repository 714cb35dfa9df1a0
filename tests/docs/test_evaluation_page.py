"""What docs/evaluation.md shows is what happens."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from command import CLEAN, LOOP, run_command

from critiqor_otel.cli.suite import read_suite

PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()
COMMANDS = [line for line in PAGE.splitlines() if line.startswith("critiqor-otel ")]
POLICY, SUITE = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "traces").mkdir()
    shutil.copyfile(CLEAN, tmp_path / "traces" / "clean.otlp.jsonl")
    shutil.copyfile(LOOP, tmp_path / "traces" / "loop.otlp.jsonl")
    (tmp_path / "agent.py").write_text("import sys\nprint('You asked', sys.argv[1])\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path


def test_each_command_works_in_the_order_given(place: Path) -> None:
    done = [(line, run_command(place, *shlex.split(line)[1:])) for line in COMMANDS]

    assert len(done) == 11
    assert [(line, outcome.code, outcome.err) for line, outcome in done if outcome.code not in {0, 1}] == []
    assert [line.split()[1] for line, outcome in done if outcome.code == 1] == ["diagnose", "check"]
    assert (place / "badge.svg").read_text().startswith("<svg")
    assert len((place / "loops.csv").read_text().splitlines()) == 2
    assert len(done[-1][1].out.splitlines()) == 1 + 2 + 4


def test_every_rule_of_the_page_is_one(place: Path) -> None:
    done = run_command(place, "check", "traces/clean.otlp.jsonl", "--policy", "policy.toml")

    assert (done.code, done.err) == (0, "")
    assert [line.split()[1] for line in done.out.splitlines() if line.strip().startswith("kept")] == [
        "minimum_trust_score",
        "maximum_hallucination_risk",
        "minimum_tool_reliability",
        "block_high_severity_failures",
        "minimum_evaluation_confidence",
    ]


def test_the_suite_of_the_page_is_read_as_it_says(place: Path) -> None:
    suite = read_suite(str(place / "suite.toml"))

    assert (suite.name, suite.agent, suite.agent_type, suite.timeout) == (
        "opening hours",
        "support_agent",
        "customer_support",
        60,
    )
    assert [case.name for case in suite.cases] == ["1", "1", "refund", "refund"]
    assert suite.cases[-1].words == ("python3", "agent.py", "May I have a refund?")
