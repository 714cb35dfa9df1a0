"""What the README says is what happens."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from command import LOOP, run_command

from analyzer.detectors.registry import ALL
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.main import VERBS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = [
    block for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL) if not language
]
LINES = [line.partition("  #")[0].strip() for block in BLOCKS for line in block.splitlines()]


def test_it_opens_with_the_two_commands() -> None:
    assert [line.split("#")[0].strip() for line in README.splitlines()[2:6]] == ["```", "make demo", "make test", "```"]


def test_each_command_works_in_the_order_given(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    shutil.copyfile(LOOP, tmp_path / "traces" / "agent.otlp.jsonl")
    commands = [shlex.split(line)[1:] for line in LINES if line.startswith("critiqor-otel") and "VERB" not in line]

    outcomes = [(command, run_command(tmp_path, *command)) for command in commands]

    assert len(commands) >= 8
    assert [(command, done.err) for command, done in outcomes if done.code not in {0, 1}] == []
    assert (tmp_path / "report.json").exists()


def test_each_target_of_make_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    documents = README + (ROOT / "CONTRIBUTING.md").read_text()

    assert set(re.findall(r"^make ([a-z]+)", documents, re.MULTILINE)) <= targets


def table_under(heading: str) -> list[str]:
    section = README.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `?([^`|]+?)`? \|", section, re.MULTILINE)[1:]


def test_the_table_of_failures_is_that_of_the_detectors() -> None:
    assert table_under("What it finds") == [detector.failure_type for detector in ALL]


def test_the_table_of_verbs_is_that_of_the_command() -> None:
    assert table_under("Diagnose a folder") == list(VERBS)


def test_the_table_of_exit_codes_is_that_of_the_command() -> None:
    assert table_under("Exit codes") == [str(int(code)) for code in ExitCode]


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / document).read_text())

    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
