"""A trace gives the same diagnosis in whatever format it comes, as far as the format carries it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from captured import CAPTURES, SCENARIOS, facts_told, files_of, sessions_of
from converted import CONVERTERS, in_microseconds

from analyzer.diagnosis import diagnose
from critiqor_otel.engine.local import Evidence, gather, runs_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.span import Span

FORMATS = CAPTURES / "_formats"
SOURCES: dict[str, str] = json.loads((FORMATS / "README.facts.json").read_bytes())
REENCODED = sorted(path.name for path in FORMATS.iterdir() if path.name != "README.facts.json")
WITHOUT_SCOPES = {"phoenix_rest_spans.json"}  # Phoenix keeps attributes alone
# The others are told in part by log records, for which Jaeger and Zipkin have no place.
SPANS_ALONE = [scenario for scenario in SCENARIOS if len(files_of(scenario)) == 1]

Verdicts = list[dict[str, Any]]


def verdicts_on(evidence: Evidence) -> Verdicts:
    return [diagnose(session).to_dict() for session in runs_of(evidence).sessions]


@cache
def spans_of(scenario: str) -> tuple[Span, ...]:
    return tuple(in_microseconds(gather(read_paths(map(str, files_of(scenario)))).spans))


@cache
def expected(scenario: str) -> Verdicts:
    return verdicts_on(Evidence(spans=list(spans_of(scenario))))


def read_back(spans: tuple[Span, ...] | list[Span], form: str, folder: Path) -> Evidence:
    path = folder / f"converted.{form}"
    path.write_bytes(CONVERTERS[form](spans))
    return gather(read_paths([str(path)]))


@pytest.mark.parametrize("form", CONVERTERS)
@pytest.mark.parametrize("scenario", SPANS_ALONE)
def test_a_converted_trace_gives_the_same_diagnosis(scenario: str, form: str, tmp_path: Path) -> None:
    evidence = read_back(spans_of(scenario), form, tmp_path)

    assert evidence.notes == []
    assert verdicts_on(evidence) == expected(scenario)


@pytest.mark.parametrize("scenario", SPANS_ALONE)
def test_a_trace_that_went_through_every_format_gives_the_same_diagnosis(scenario: str, tmp_path: Path) -> None:
    evidence = Evidence(spans=list(spans_of(scenario)))

    for form in (*CONVERTERS, *reversed(CONVERTERS)):
        evidence = read_back(evidence.spans, form, tmp_path)

    assert verdicts_on(evidence) == expected(scenario)


def told(verdict: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a verdict without what its format does not carry."""
    metrics = verdict["runtime_metrics"]
    kept = {**verdict, "runtime_metrics": {**metrics, "latency": round(metrics["latency"], 5)}}
    return kept | {"agent": verdict["agent"]["name"]} if name in WITHOUT_SCOPES else kept


@pytest.mark.parametrize("name", REENCODED)
def test_a_reencoded_capture_gives_the_diagnosis_of_its_source(name: str) -> None:
    source = SOURCES.get(name, SOURCES["default"])
    verdicts = verdicts_on(gather(read_paths([str(FORMATS / name)])))

    if source in SCENARIOS:
        assert [told(one, name) for one in verdicts] == [
            told(diagnose(one).to_dict(), name) for one in sessions_of(source)
        ]
    else:  # the capture is not here; what its agent did is what every agent of that scenario did
        evidence = verdicts[0]["evidence_summary"]
        facts = facts_told(SOURCES["default"])
        assert source.partition("/")[2] == SOURCES["default"].partition("/")[2]
        assert (evidence["tool_calls_by_name"], evidence["tool_errors"]) == (facts["tool_calls"], facts["tool_errors"])
