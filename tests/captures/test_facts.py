"""Every captured trace gives the facts that the script behind it is known to have made true."""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from not_carried import ABSENT, FURTHER_ABSENT, FURTHER_PARTIAL, NO_CACHED_INPUT, PARTIAL, named

from analyzer.diagnosis import diagnose
from analyzer.session.codec import write_session
from analyzer.session.model import Session
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths

CASES = Path(__file__).parent.parent / "cases"
STEMS = {
    path.relative_to(folder).as_posix().removesuffix(".facts.json"): path.with_name(
        path.name.removesuffix(".facts.json")
    )
    for folder in (CASES / "captures", CASES / "further_captures")
    for path in folder.glob("*/*.facts.json")
    if path.parent.name != "_formats"
}
SCENARIOS = sorted(STEMS)
ENCODINGS = ("pb", "jsonl")
OPINION = {"unsupported_claims"}  # the scripted answer of the clean runs names five days, which no tool result holds
LOUD = {"medium", "high", "critical"}


class Told:
    """What the diagnoses of one capture say, added up."""

    def __init__(self, runs: list[dict[str, Any]]) -> None:
        self.runs = runs
        self.evidence = [run["evidence_summary"] for run in runs]
        self.causes = [cause for run in runs for cause in run["failure_causes"]]

    def total(self, fact: str) -> int:
        return sum(one[fact] or 0 for one in self.evidence)

    def tokens(self, part: str) -> int:
        return sum(one["tokens"][part] or 0 for one in self.evidence)

    @property
    def tool_calls(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for one in self.evidence:
            counts.update(one["tool_calls_by_name"] or {})
        return dict(counts)

    @property
    def missing(self) -> set[str]:
        """The facts that every run says are missing."""
        return set.intersection(*(set(one["missing"]) for one in self.evidence)) if self.evidence else set()

    @property
    def named(self) -> set[str]:
        """The facts that some run says are missing."""
        return {fact for one in self.evidence for fact in one["missing"]}

    def loud(self, *types: str) -> list[dict[str, Any]]:
        return [cause for cause in self.causes if cause["severity"] in LOUD and (not types or cause["type"] in types)]


def capture(scenario: str, encoding: str) -> list[Path]:
    stem = STEMS[scenario]
    paths = [Path(f"{stem}{kind}.otlp.{encoding}") for kind in ("", ".logs")]
    return [path for path in paths if path.exists() and path.stat().st_size]


@pytest.fixture(params=ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SCENARIOS)
def scenario(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def facts(scenario: str) -> dict[str, Any]:
    return dict(json.loads(Path(f"{STEMS[scenario]}.facts.json").read_text()))


@cache
def sessions(scenario: str, encoding: str) -> tuple[Session, ...]:
    paths = [str(path) for path in capture(scenario, encoding)]
    return tuple(runs_of(gather(read_paths(paths))).sessions)


@cache
def told_of(scenario: str, encoding: str) -> Told:
    return Told([diagnose(session).to_dict() for session in sessions(scenario, encoding)])


@pytest.fixture
def told(scenario: str, encoding: str) -> Told:
    return told_of(scenario, encoding)


def absent(scenario: str) -> set[str]:
    return named({**ABSENT, **FURTHER_ABSENT}, *scenario.split("/"))


def excused(scenario: str) -> set[str]:
    return absent(scenario) | named({**PARTIAL, **FURTHER_PARTIAL}, *scenario.split("/"))


def check(fact: str, told: Told, scenario: str, *, seen: Any, true: Any) -> None:
    """Hold a fact to the truth, or to being named as missing where the traces are known not to carry it."""
    if fact in absent(scenario):
        assert fact in told.missing
        assert seen in (0, {}, true), f"{fact} is said to be missing and told all the same"
    elif fact in excused(scenario) and fact in told.named:
        return
    else:
        assert fact not in told.missing
        assert seen == true


def test_tool_calls(told: Told, scenario: str, facts: dict[str, Any]) -> None:
    if "tool_calls" in facts:
        check("tool_calls", told, scenario, seen=told.tool_calls, true=facts["tool_calls"])


def test_tool_errors(told: Told, scenario: str, facts: dict[str, Any]) -> None:
    if "tool_errors" in facts:
        check("tool_errors", told, scenario, seen=told.total("tool_errors"), true=facts["tool_errors"])


def test_model_calls(told: Told, scenario: str, facts: dict[str, Any]) -> None:
    if "llm_calls" in facts:
        check("model_calls", told, scenario, seen=told.total("model_calls"), true=facts["llm_calls"])


def test_tokens(told: Told, scenario: str, facts: dict[str, Any]) -> None:
    true = facts.get("token_totals")
    if true:
        seen = {"input": told.tokens("input"), "output": told.tokens("output")}
        wanted = {"input": true["input"], "output": true["output"]}
        if "tokens" in absent(scenario):
            assert "tokens" in told.missing
            assert [one["tokens"]["input"] for one in told.evidence] == [None] * len(told.runs)
        else:
            check("tokens", told, scenario, seen=seen, true=wanted)


def test_cached_input(told: Told, scenario: str, facts: dict[str, Any]) -> None:
    cached = (facts.get("token_totals") or {}).get("cache_read")
    if cached and scenario.partition("/")[0] not in NO_CACHED_INPUT:
        assert told.tokens("cached_input") == cached


def test_a_loop_is_raised_with_every_call_as_evidence(told: Told, scenario: str, facts: dict[str, Any]) -> None:
    same = facts.get("max_identical_calls")
    if same is None:
        return
    loops = told.loud("infinite_tool_loop")
    if same < 3 or facts.get("tool_errors"):  # attempts that fail until one succeeds are no loop
        assert loops == []
        return
    if "tool_arguments" in excused(scenario) and "tool_arguments" in told.named:
        return
    repeated = max(facts["tool_calls"], key=facts["tool_calls"].get)
    assert any(repeated in json.dumps(loop) and len(loop["evidence"]) >= same for loop in loops)


def test_a_clean_run_raises_nothing_loud(told: Told, scenario: str, facts: dict[str, Any]) -> None:
    clean = "clean" in scenario and not facts.get("tool_errors") and (facts.get("max_identical_calls") or 0) < 2
    if clean:
        assert [cause["type"] for cause in told.loud() if cause["type"] not in OPINION] == []


def test_tokens_alone_are_no_explosion_of_cost(told: Told, scenario: str) -> None:
    if "token_heavy" in scenario:
        assert told.loud("cost_explosion") == []


def test_runs(told: Told, facts: dict[str, Any]) -> None:
    if "sessions" in facts:
        seen = sorted(str(one["tool_calls_by_name"]) for one in told.evidence if one["tool_calls_by_name"])
        assert seen == sorted(map(str, facts["sessions"].values()))
    elif facts.get("observable", {}).get("traces") == 1:
        assert len(told.runs) == 1


def test_nothing_is_said_to_be_missing_that_is_carried(told: Told, scenario: str) -> None:
    assert told.missing <= excused(scenario)


def test_every_pair_of_the_table_is_a_capture_and_has_its_reason() -> None:
    families = {scenario.partition("/")[0] for scenario in SCENARIOS}
    for table in (ABSENT, PARTIAL, FURTHER_ABSENT, FURTHER_PARTIAL):
        for key, facts in table.items():
            assert key in SCENARIOS or key in families
            assert all(reason for reason in facts.values())


def test_both_encodings_give_the_same_sessions(scenario: str) -> None:
    written = [[write_session(session) for session in sessions(scenario, encoding)] for encoding in ENCODINGS]

    assert written[0] == written[1]
