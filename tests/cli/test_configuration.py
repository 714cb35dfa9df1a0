"""Settings: where they are found, and what is said of a wrong one."""

import json
from pathlib import Path

import click
import pytest
from command import LOOP, Critiqor

from analyzer.options import Options
from critiqor_otel.cli.configuration import find_configuration, read_options

FINE = "loop_calls = 4\n"


def project(folder: Path, settings: str, *, table: str = "tool.critiqor") -> Path:
    file = folder / "pyproject.toml"
    file.write_text(f"[project]\nname = 'agent'\n\n[{table}]\n{settings}")
    return file


def refusal(folder: Path) -> str:
    with pytest.raises(click.UsageError) as caught:
        read_options(None, start=folder)
    return caught.value.message.replace(f"{folder.resolve()}/", "")


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert read_options(None, start=tmp_path) == Options()


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    project(tmp_path, FINE)
    assert read_options(None, start=inner).loop_calls == 4

    (tmp_path / "a" / "critiqor.toml").write_text("loop_calls = 7\n")

    assert read_options(None, start=inner).loop_calls == 7


def test_a_folder_that_the_system_will_not_look_at_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "critiqor.toml").touch()

    assert find_configuration(tmp_path / ("x" * 300)) == (tmp_path / "critiqor.toml").resolve()


def test_a_file_of_our_own_goes_before_the_projects(tmp_path: Path) -> None:
    project(tmp_path, FINE)
    own = tmp_path / "critiqor.toml"
    own.write_text("loop_calls = 5\n")

    assert find_configuration(tmp_path) == own.resolve()


@pytest.mark.parametrize("content", ["[tool.other]\na = 1\n", "[project", "tool = 3\n", "[tool]\ncritiqor = 3\n"])
def test_a_project_that_does_not_know_us_is_passed_over(tmp_path: Path, content: str) -> None:
    inner = tmp_path / "agent"
    inner.mkdir()
    (inner / "pyproject.toml").write_text(content)
    outer = project(tmp_path, FINE)

    assert find_configuration(inner) == outer.resolve()


def test_the_policy_beside_the_settings_is_let_be(tmp_path: Path) -> None:
    project(tmp_path, f"{FINE}[tool.critiqor.policy]\nminimum_trust_score = 80\n")

    assert read_options(None, start=tmp_path).loop_calls == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("tokn_budget = 5\n", "tool.critiqor.tokn_budget is no setting; did you mean token_budget?"),
        ("token_budget = 0\n", "token_budget: 0 stands there, where a whole number of 1 or more has to be. Change it"),
        ("token_budget = 'many'\n", 'token_budget: "many" stands there, where a whole number of 1 or more has to be'),
        ("loop_calls = -1\n", "loop_calls: -1 stands there, where a whole number from 3 to 1,000 has to be"),
        ("loop_calls = 1000000000\n", "loop_calls: 1000000000 stands there, where a whole number from 3 to 1,000"),
        ("critical_loop_calls = 0\n", "critical_loop_calls: 0 stands there, where a whole number from 3 to 1,000"),
        ("saturation = 400\n", "saturation: 400 stands there, where a number above 0"),
        ("precedes = 'no'\n", 'precedes: "no" stands there, where true or false has to be'),
        ("off = 'x'\n", 'off: "x" stands there, where a list of texts, such as ["one", "two"], has to be'),
        ("windows = 3\n", "windows: 3 stands there, where a table has to be"),
        ("off = ['infinite_loop']\n", "'infinite_loop', which is no failure type; did you mean infinite_tool_loop?"),
        ("[tool.critiqor.windows]\nm = 'big'\n", 'tool.critiqor.windows.m: "big" stands there, where a whole number'),
        ("polling_tools = [3]\n", "polling_tools[0]: 3 stands there, where a text in quotes has to be"),
        ("prices = 'gone.toml'\n", "gone.toml can't be read: No such file or directory"),
        ("prices = 'prices.ini'\n", "prices.ini: expected a file that ends in"),
        (
            "[tool.critiqor.prices]\nmodels = {}\ncurency = 'EUR'\n",
            "prices.curency is no setting; did you mean currency?",
        ),
        (
            "[tool.critiqor.prices.models]\nm = { input = 1, outputs = 2 }\n",
            "prices.models.m.outputs is no setting; did you mean output?",
        ),
        ("[tool.critiqor.prices.models]\nm = { input = -1, output = 2 }\n", "prices.models.m.input: -1 stands there"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file_and_what_was_meant(tmp_path: Path, settings: str, message: str) -> None:
    project(tmp_path, settings)

    said = refusal(tmp_path)
    assert message in said
    assert any(name in said for name in ("pyproject.toml", "gone.toml", "prices.ini"))


def test_a_price_list_stands_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "own.toml").write_text("prices = 'p.json'\n")
    prices = {"as_of": "2026-01-02", "models": {"m": {"input": 1, "output": 2}}}
    (tmp_path / "lists" / "p.json").write_text(json.dumps(prices))

    found = read_options(str(tmp_path / "lists" / "own.toml")).prices

    assert found is not None
    assert (found.as_of, found.models["m"].output) == ("2026-01-02", 2)


def test_a_file_that_is_named_must_be_there(critiqor: Critiqor) -> None:
    done = critiqor("diagnose", LOOP, "--config", "gone.toml")

    assert done.code == 2
    assert "gone.toml can't be read" in done.err


def test_a_detector_that_is_off_finds_nothing(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("off = ['infinite_tool_loop']\n")

    with_it = critiqor("diagnose", LOOP, "--format", "json")
    without = critiqor("diagnose", LOOP, "--format", "json", "--config", tmp_path / "own.toml")

    causes = [{c["type"] for c in json.loads(done.out)["runs"][0]["failure_causes"]} for done in (with_it, without)]
    assert causes[0] - causes[1] == {"infinite_tool_loop"}


def test_the_settings_of_the_folder_count_for_runs_that_are_watched(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "critiqor.toml").write_text("prices = 'gone.toml'\n")

    done = critiqor("run", "--", "true")

    assert done.code == 2
    assert "gone.toml" in done.err
