"""What the package offers at its top: every documented name, one class each, told to type checkers as it is."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import analyzer.evaluation
import critiqor_otel

ROOT = Path(__file__).parents[2]
STUB = ROOT / "critiqor_otel" / "__init__.pyi"

# The types, aliases and functions of critiqor's data type reference and of its recorder's page.
DOCUMENTED = [
    name
    for line in (
        "ToolCall ToolOutput RuntimeMetrics EvaluationEvidence FailureCause RootCause EvaluationRecord",
        "PolicyCheckResult TrendAnalysis ReliabilityCertification AgentProfile BenchmarkResult CausalGraph",
        "CausalGraphEdge ReliabilityInsight Leaderboard LeaderboardEntry RunComparison CritiqorResult",
        "Critiqor EvidenceRecorder TrustLevel EvidenceLevel FailureSeverity DeploymentRecommendation",
        "AgentType CertificationLevel TrendDirection detect_failure_causes calculate_evaluation_confidence",
        "recommend_deployment save_evaluation load_evaluations check_policy analyze_trends compare_runs",
        "certify_run benchmark_run generate_insights register_agent submit_run generate_leaderboard",
        "build_causal_graph explain_failure_chain monitor wrap_tool",
    )
    for name in line.split()
]


def test_every_documented_name_is_there() -> None:
    assert sorted(set(DOCUMENTED) - set(critiqor_otel.__all__)) == []


@pytest.mark.parametrize("name", critiqor_otel.__all__)
def test_a_name_is_what_its_module_offers(name: str) -> None:
    found = getattr(critiqor_otel, name)

    assert name in dir(critiqor_otel)
    if hasattr(analyzer.evaluation, name):
        assert found is getattr(analyzer.evaluation, name)


def test_the_stub_tells_type_checkers_the_same_names_of_the_same_modules() -> None:
    imports = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: (node.module, alias.name) for node in imports for alias in node.names}

    assert sorted(map(str, told)) == sorted(critiqor_otel.__all__)
    assert [
        name
        for name, (module, _) in told.items()
        if getattr(import_module(str(module)), str(name)) is not getattr(critiqor_otel, str(name))
    ] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="critiqor_otel has no nothing"):
        getattr(critiqor_otel, "nothing")  # noqa: B009  # a type checker knows that there is none


def test_no_two_public_classes_share_a_name() -> None:
    homes: dict[str, set[str]] = {}
    for path in sorted((ROOT / "analyzer").rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(str(path.relative_to(ROOT)))

    assert {name: sorted(found) for name, found in homes.items() if len(found) > 1} == {}


def test_importing_the_package_loads_none_of_them() -> None:
    script = "import sys, critiqor_otel; print([name for name in sys.modules if name.startswith('analyzer')])"

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"
