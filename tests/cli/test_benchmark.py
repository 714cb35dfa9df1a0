import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Critiqor

AGENT = """
import sys
from critiqor_otel import wrap_tool

search = wrap_tool("search", lambda query: "nine to five")

async def answer(prompt):
    for _ in range(4 if "twice" in prompt else 1):
        found = search(prompt)
    return f"We are there {found}"

def broken(prompt):
    raise RuntimeError("no answer")
"""


def write(folder: Path, file: str, **settings: Any) -> None:
    (folder / file).write_text(json.dumps(settings))


def test_each_prompt_is_a_monitored_run_of_the_callable(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "suite.toml").write_text(
        'agent = "helper"\nagent_type = "customer_support"\ncallable = "agent:answer"\n'
        'prompts = ["Opening hours?", {name = "loop", prompt = "Say it twice"}]\n'
    )

    done = critiqor("benchmark", "suite.toml")

    rows = [line.split() for line in done.out.splitlines()]
    runs = json.loads(critiqor("runs", "--format", "json").out)["runs"]
    board = json.loads(critiqor("leaderboard", "--category", "support", "--format", "json").out)
    assert done.code == 0, done.err
    assert [row[0] for row in rows] == ["CASE", "1", "loop", "suite:"]
    assert "infinite_tool_loop" in rows[2]
    assert [(run["agent_id"], run["primary_failure"], run["exit_code"]) for run in runs] == [
        ("helper", None, 0),
        ("helper", "infinite_tool_loop", 0),
    ]
    assert [(entry["agent_id"], entry["run_count"]) for entry in board["rankings"]] == [("helper", 2)]
    assert done.err.count("We are there nine to five") == 2


def test_runs_that_show_nothing_have_no_average(critiqor: Critiqor, tmp_path: Path) -> None:
    write(tmp_path, "suite.json", name="silent", command=["true"], prompts=["Hello?"])

    last = critiqor("benchmark", "suite.json").out.splitlines()[-1]

    assert last == "silent: 1 run, none with enough evidence to judge; did the command send its spans?"


def test_an_observed_command_is_counted_for_the_agent_that_it_names(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)

    critiqor("run", "--", sys.executable, "-m", "critiqor_otel.cli.calling", "agent:answer", "hours?")

    (run,) = json.loads(critiqor("runs", "--format", "json").out)["runs"]
    assert run["agent_id"] == "agent:answer"


def test_a_command_gets_its_prompt_and_its_failure_fails_the_benchmark(critiqor: Critiqor, tmp_path: Path) -> None:
    write(tmp_path, "suite.json", command=["sh", "-c", 'echo "asked $0"; test "$0" = fine'], prompts=["fine", "foul"])

    first = critiqor("benchmark", "suite.json", "--format", "json")
    second = critiqor("benchmark", "suite.json", "--format", "json")

    result, again = json.loads(first.out), json.loads(second.out)
    assert (first.code, result["run_count"], len(result["results"])) == (1, 2, 2)
    assert (result["name"], result["percentile"]) == ("suite", 100)
    assert again["percentile"] < 100
    assert "asked fine" in first.err
    assert "asked foul" in first.err


def test_a_callable_that_raises_is_a_failed_run(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    write(tmp_path, "suite.json", callable="agent:broken", prompts=["x"], name="raising")

    done = critiqor("benchmark", "suite.json")
    (run,) = json.loads(critiqor("runs", "--format", "json").out)["runs"]

    assert done.code == 1
    assert (run["agent_id"], run["status"], run["exit_code"]) == ("raising", "failed", 1)


def test_the_prompt_goes_where_the_command_says_and_repeats_count(critiqor: Critiqor, tmp_path: Path) -> None:
    write(tmp_path, "suite.json", command=["echo", "<{prompt}>", "end"], prompts=["a b"], repeat=2)

    done = critiqor("benchmark", "suite.json")

    assert done.err.count("<a b> end") == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"prompts": ["x"]},
        {"command": ["true"], "callable": "a:b", "prompts": ["x"]},
        {"command": "true", "prompts": ["x"]},
        {"callable": "no_colon", "prompts": ["x"]},
        {"command": ["true"]},
        {"command": ["true"], "prompts": []},
        {"command": ["true"], "prompts": [{"name": "no prompt"}]},
        {"command": ["true"], "prompts": ["x"], "promtps": ["y"]},
    ],
)
def test_a_suite_that_lacks_something_is_usage(settings: Any, critiqor: Critiqor, tmp_path: Path) -> None:
    write(tmp_path, "suite.json", **settings)

    done = critiqor("benchmark", "suite.json")

    assert (done.code, done.out) == (2, "")
    assert not (tmp_path / "runs").exists()


def test_a_key_of_a_suite_may_be_a_number_in_yaml(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("command: ['true']\nprompts: [x]\n2: 5\nodd: 1\n")

    done = critiqor("benchmark", "suite.yaml")

    assert (done.code, "there is no setting 2, odd" in done.err) == (2, True)
