"""Verdicts and histories as tests of the evaluation's verbs need them."""

import json
from pathlib import Path
from typing import Any

from analyzer.evaluation import Diagnosed, History

__all__ = ["fill_history", "put_verdict", "verdict"]

_START = "2026-01-{:02d}T00:00:00.000000000Z"


def verdict(run_id: str, trust: int | None = 90, *, agent: str = "ada", failure: str | None = None) -> dict[str, Any]:
    """Return a run object of `critiqor.diagnosis.v1` without its graph; a failure is high."""
    causes = [{"type": failure, "severity": "high", "impact": -12, "evidence": ["e1"]}] if failure else []
    return {
        "run_id": run_id,
        "agent": {"name": agent, "framework": None, "version": None},
        "status": "completed",
        "trust_score": trust,
        "readiness_level": "safe_to_deploy" if not failure else "review_recommended",
        "evidence_level": "fully_instrumented",
        "scores": {"loop_control": trust, "tool_reliability": trust},
        "failure_causes": causes,
        "primary_diagnosis": {"root_cause_failure_type": failure},
        "runtime_metrics": {"latency": 2.5, "retries": 0, "errors": [], "exit_code": 0},
        "evidence_summary": {"event_count": 4, "tool_outputs": 1, "tokens": {"total": 1200}},
    }


def put_verdict(runs: Path, run_id: str, **more: Any) -> None:
    """Write a run's diagnosis.json, as `diagnose --write` does."""
    folder = runs / run_id
    folder.mkdir(parents=True)
    (folder / "diagnosis.json").write_text(
        json.dumps({"schema_version": "critiqor.diagnosis.v1", **verdict(run_id, **more)})
    )


def fill_history(runs: Path, *trusts: int | None, agent: str = "ada", failure: str | None = None) -> None:
    """Keep a diagnosed run a trust score, a day apart."""
    with History(runs / "history.sqlite") as history:
        history.save_diagnoses(
            Diagnosed(verdict(f"{agent}_{number}", trust, agent=agent, failure=failure), _START.format(number))
            for number, trust in enumerate(trusts, 1)
        )
