import json
from pathlib import Path

import pytest
from command import CLEAN, Critiqor
from evaluated import fill_history, put_verdict, verdict

from analyzer.evaluation import EvaluationRecord, save_evaluation

POLICIES = {
    "policy.toml": "minimum_trust_score = 80\nblock_high_severity_failures = false\n",
    "policy.yaml": "minimum_trust_score: 80  # points\nblock_high_severity_failures: no\n",
    "policy.yml": "minimum_trust_score: 80\nblock_high_severity_failures: false\n",
    "policy.json": '{"minimum_trust_score": 80, "block_high_severity_failures": false}',
    "pyproject.toml": "[tool.critiqor.policy]\nminimum_trust_score = 80\nblock_high_severity_failures = false\n",
    "table.toml": "[policy]\nminimum_trust_score = 80\nblock_high_severity_failures = false\n",
}


@pytest.mark.usefixtures("folder")
def test_each_rule_is_printed_with_value_and_limit_and_a_broken_one_fails(critiqor: Critiqor, folder: Path) -> None:
    (folder / "policy.toml").write_text("minimum_trust_score = 80\nmaximum_hallucination_risk = 20\n")

    done = critiqor("check", "traces", "--policy", "policy.toml")

    lines = [line.split() for line in done.out.splitlines()]
    assert done.code == 1
    assert ["kept", "minimum_trust_score", "100", "80"] in lines
    assert ["broken", "minimum_trust_score", "49", "80"] in lines
    assert ["broken", "block_high_severity_failures", "infinite_tool_loop", "(critical)", "yes"] in lines
    assert ["kept", "maximum_hallucination_risk", "?", "20"] in lines
    assert done.out.endswith("1 of 2 runs meet the policy\n")


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_read_in_each_form(name: str, critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / name).write_text(POLICIES[name])
    put_verdict(tmp_path / "runs", "good", failure="cost_explosion")
    put_verdict(tmp_path / "runs", "weak", trust=79)

    codes = [
        critiqor("check", f"runs/{run}/diagnosis.json", "--policy", name, "--quiet").code for run in ("good", "weak")
    ]

    assert codes == [0, 1]


def test_the_document_holds_every_rule(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 90)

    done = critiqor("check", "runs/history.sqlite", "--format", "json")

    document = json.loads(done.out)
    assert (done.code, document["passed"]) == (0, True)
    assert document["runs"][0]["deployment_recommendation"] == "safe_to_deploy"
    assert [(rule["name"], rule["value"], rule["limit"]) for rule in document["runs"][0]["rules"]] == [
        ("minimum_trust_score", 90, 0),
        ("block_high_severity_failures", "none", True),
    ]


def test_every_form_of_a_run_can_be_checked(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(
        json.dumps({"schema_version": "critiqor.diagnosis.v1", "runs": [verdict("a"), verdict("b")]})
    )
    (tmp_path / "report.jsonl").write_text(f"{json.dumps(verdict('c'))}\n{{cut\n{json.dumps(verdict('d'))}\n")
    save_evaluation(EvaluationRecord.from_dict({"run_id": "e", "trust_score": 90}), tmp_path / "kept.jsonl")
    fill_history(tmp_path / "runs", 90)

    done = critiqor("check", "report.json", "report.jsonl", "kept.jsonl", "runs/history.sqlite", CLEAN)

    assert [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")][:5] == list("abcde")
    assert done.out.endswith("7 of 7 runs meet the policy\n")
    assert "report.jsonl:2: a line is no JSON" in done.err


def test_one_run_or_the_last_ones_can_be_checked(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 10, 95, 96)
    (tmp_path / "policy.toml").write_text("minimum_trust_score = 50")

    checked = ["check", "runs/history.sqlite", "--policy", "policy.toml"]

    assert critiqor(*checked).code == 1
    assert critiqor(*checked, "--last", "2").out.endswith("2 of 2 runs meet the policy\n")
    assert critiqor(*checked, "--run", "ada_2").code == 0
    assert critiqor(*checked, "--run", "nobody").code == 2


def test_a_rule_that_does_not_exist_is_told_of_even_when_quiet(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 90)
    (tmp_path / "policy.toml").write_text("minimum_trsut_score = 99")

    done = critiqor("check", "runs/history.sqlite", "--policy", "policy.toml", "--quiet")

    told = (
        "policy.toml: there is no rule 'minimum_trsut_score'; it changes nothing; did you mean minimum_trust_score?\n"
    )
    assert (done.code, done.err) == (0, told)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("policy.toml", "a = [", "is no TOML"),
        ("policy.yaml", "a: [", "is no YAML"),
        ("policy.yaml", "- 1", "holds no table of settings but list"),
        ("policy.json", "{", "is no JSON"),
        ("policy.json", "\xff", "is no JSON"),
        ("policy.txt", "", "expected a file that ends in .toml"),
        ("missing.toml", None, "can't be read: No such file"),
    ],
)
def test_a_policy_that_cannot_be_read_is_usage(
    name: str, text: str | None, found: str, critiqor: Critiqor, tmp_path: Path
) -> None:
    fill_history(tmp_path / "runs", 90)
    if text is not None:
        (tmp_path / name).write_text(text, encoding="latin-1")

    done = critiqor("check", "runs/history.sqlite", "--policy", name)

    assert done.code == 2
    assert found in done.err


def test_no_run_to_check_is_unreadable(critiqor: Critiqor) -> None:
    assert critiqor("check", "nowhere").code == 3


def test_a_run_with_too_little_evidence_is_never_safe_and_that_is_said(critiqor: Critiqor, tmp_path: Path) -> None:
    put_verdict(tmp_path / "runs", "bare", trust=None)
    (tmp_path / "policy.toml").write_text("minimum_trust_score = 1")

    lax = critiqor("check", "runs/bare/diagnosis.json")
    strict = critiqor("check", "runs/bare/diagnosis.json", "--policy", "policy.toml")

    assert (lax.code, strict.code) == (0, 1)
    assert lax.out.splitlines()[0].endswith("review recommended")
    assert lax.err == "bare: there is too little evidence for a trust score; it counts as 0\n"
