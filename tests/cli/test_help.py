import json
import re
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from command import COMMAND, LOOP, Critiqor

from critiqor_otel.cli.main import VERBS

UNTIL_STOPPED = {"serve", "replay", "annotate"}  # a receiver, and what needs one: their own tests start and stop them
LIMIT = 8  # times what `python -c pass` takes


def lay_out(folder: Path) -> None:
    """Put the files in place that the examples name."""
    (folder / "traces").mkdir()
    shutil.copyfile(LOOP, folder / "traces" / "agent.otlp.jsonl")
    session = '{"schema_version": "critiqor.session.v1", "run_id": "run_001", "events": [{"event": "decision"}]}'
    for runs in (folder / "runs", folder / ".critiqor" / "runs"):
        (runs / "run_001").mkdir(parents=True)
        (runs / "run_001" / "session.json").write_text(session)
    for run_id, trust in (("run_001", 60), ("run_002", 90)):
        verdict = {"run_id": run_id, "trust_score": trust, "readiness_level": "review_recommended", "scores": {}}
        (folder / "runs" / run_id).mkdir(exist_ok=True)
        (folder / "runs" / run_id / "diagnosis.json").write_text(json.dumps(verdict))
    (folder / "critiqor-baseline.json").write_text('{"failures": []}')
    (folder / "policy.toml").write_text("minimum_trust_score = 60\n")
    (folder / "suite.toml").write_text('command = ["python3", "agent.py"]\nprompts = ["Opening hours?"]\n')
    (folder / "agent.py").write_text("print('an agent that does nothing')\n")


@pytest.mark.parametrize("verb", [*(verb for verb in VERBS if verb not in UNTIL_STOPPED), ""])
def test_every_example_in_the_help_works(verb: str, critiqor: Critiqor, tmp_path: Path) -> None:
    lay_out(tmp_path)
    text = critiqor(*filter(None, [verb]), "--help").out
    examples = re.findall(r"^ +critiqor-otel (.+)$", text.partition("Example")[2], re.MULTILINE)

    codes = {example: shell(example, tmp_path) for example in examples}

    assert codes
    assert {example: code for example, code in codes.items() if code not in {0, 1}} == {}


def shell(example: str, folder: Path) -> int:
    """Run the example as it stands, redirections too."""
    return subprocess.run(  # noqa: S602  # the examples are ours
        f"{COMMAND} {example}", shell=True, cwd=folder, capture_output=True, check=False, timeout=120
    ).returncode


@pytest.mark.parametrize("verb", VERBS)
def test_the_summary_in_the_list_is_the_first_line_of_the_verb(verb: str) -> None:
    command = import_module(VERBS[verb].module).command

    assert command.name == verb
    assert command.help.split("\n\n")[0].replace("\n", " ").startswith(VERBS[verb].summary.removesuffix("."))


def test_help_starts_fast() -> None:
    bare = quickest([sys.executable, "-c", "pass"])
    helped = quickest([str(COMMAND), "--help"])

    assert helped <= LIMIT * bare


def quickest(command: list[str]) -> float:
    """Return the shortest of several times: what the work takes when the machine is left alone."""
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return min(times)


@pytest.mark.parametrize("verb", VERBS)
def test_no_paragraph_of_the_help_has_a_hole_in_it(verb: str, critiqor: Critiqor) -> None:
    told = critiqor(verb, "--help").out.partition("\nOptions:")[0]

    assert not re.search(r"\S {2,}\S", told)
