"""Profile critiqor-v1 gives the recorded numbers of critiqor 0.1.4, case by case."""

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.diagnosis import Profile, diagnose
from analyzer.session.codec import read_session

CASES = Path(__file__).parents[1] / "cases" / "critiqor-v1"
MANIFEST: dict[str, dict[str, str]] = json.loads((CASES / "MANIFEST.json").read_text())
EXACT = sorted(name for name, case in MANIFEST.items() if case["advice"] == "exact")
READINESS = {"ready_for_runtime": "safe_to_deploy"}
RELATIONS = {"precedes", "causes", "reinforces"}


def found(name: str) -> dict[str, Any]:
    session = read_session((CASES / f"{name}.session.json").read_bytes())
    run = json.loads(json.dumps(diagnose(session, profile=Profile.CRITIQOR_V1).to_dict()))
    edges = [(edge["from"], edge["to"], edge["relation"]) for edge in run["causal_graph"]["edges"]]
    causes = run["failure_causes"]
    return {
        "trust": run["trust_score"],
        "readiness": run["readiness_level"],
        "scores": run["scores"],
        "failures": [(cause["type"], cause["severity"], cause["impact"], cause["evidence"]) for cause in causes],
        "primary": run["primary_diagnosis"]["root_cause_failure_type"],
        "cost": run["cost_analysis"],
        "edges": sorted({edge for edge in edges if edge[2] in RELATIONS}),
    }


def recorded(name: str) -> dict[str, Any]:
    run = json.loads((CASES / f"{name}.expected.json").read_text())["direct"]
    causes = run["failures"]
    return {
        "trust": run["trust_score"],
        "readiness": READINESS.get(run["readiness_level"], run["readiness_level"]),
        "scores": run["scores"],
        "failures": [(cause["type"], cause["severity"], cause["impact_score"], cause["evidence"]) for cause in causes],
        "primary": run["primary_type"],
        "cost": run["cost"],
        "edges": sorted({tuple(edge) for edge in run["edges"] if edge[2] in RELATIONS}),
    }


@pytest.mark.parametrize("name", EXACT)
def test_the_recorded_numbers_are_equal(name: str) -> None:
    assert found(name) == recorded(name)


def test_every_case_of_the_manifest_is_here() -> None:
    files = {path.name.removesuffix(".session.json") for path in CASES.glob("*.session.json")}

    assert files == set(MANIFEST)
    assert len(EXACT) == 52


def test_the_chain_is_told_in_the_recorded_steps() -> None:
    session = read_session((CASES / "loop_3_high.session.json").read_bytes())

    chain = diagnose(session, profile=Profile.CRITIQOR_V1).primary_diagnosis.causal_chain_explanation

    assert chain == "tool_call -> tool_failure_or_no_progress -> retry_same_action -> loop_flagged"
