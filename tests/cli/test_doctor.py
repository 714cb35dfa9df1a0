import json
import shutil
from pathlib import Path

import pytest
from command import CAPTURES, CLEAN, LOOP, Critiqor

from analyzer.detectors.registry import ALL

BLIND = CAPTURES / "pydantic_ai_nocontent" / "repeat_identical_calls.otlp.jsonl"


def test_a_trace_that_carries_all_lacks_nothing(critiqor: Critiqor) -> None:
    done = critiqor("doctor", LOOP)

    assert done.code == 0
    assert "Nothing is missing that a detector needs." in done.out
    assert "can't run" not in done.out


def test_what_is_missing_is_told_with_who_is_blind_and_the_switch(critiqor: Critiqor) -> None:
    lines = critiqor("doctor", BLIND).out.splitlines()

    assert lines[0] == "pydantic-ai: 1 run, 12 spans and log records"
    assert ["tool", "arguments", "no", "0", "of", "5", "calls"] in [line.split() for line in lines]
    assert ["infinite_tool_loop", "can't", "run", "needs", "tool", "arguments"] in [line.split() for line in lines]
    header = next(line for line in lines if line.split() == ["DETECTOR", "SIGHT"])
    sights = [line for line in lines if line[header.index("SIGHT") :].startswith(("can run", "can't run", "in part"))]
    assert len(sights) == len(ALL)
    at = lines.index("  To get tool arguments, tool results:")
    assert "include_content" in lines[at + 1]


def test_the_document_holds_families_facts_and_detectors(critiqor: Critiqor, folder: Path) -> None:
    shutil.copyfile(BLIND, folder / "traces" / "blind.otlp.jsonl")
    (folder / "traces" / "notes.txt").write_text("no trace")

    done = critiqor("doctor", "traces", "--format", "json", "--output", "checkup.json")

    document = json.loads((folder / "checkup.json").read_bytes())
    assert (done.code, done.out) == (0, "")
    assert set(document) == {"schema_version", "families", "unknown_scopes", "skipped", "notes"}
    assert document["schema_version"] == "critiqor.checkup.v1"
    (family,) = document["families"]
    assert (family["family"], family["runs"]) == ("pydantic-ai", 3)
    assert family["facts"]["tool_arguments"]["carriage"] == "in part"
    assert family["detectors"][0] == {
        "failure_type": "infinite_tool_loop",
        "sight": "in part",
        "lacks": ["tool_arguments"],
    }
    assert "notes.txt" in document["skipped"][0]["place"]


@pytest.mark.parametrize("endpoint", ["http://localhost:4318", "grpc://collector:4317/x", "localhost:4317"])
def test_an_endpoint_is_not_yet_a_path(critiqor: Critiqor, endpoint: str) -> None:
    done = critiqor("doctor", endpoint)

    assert done.code == 2
    assert f"{endpoint!r} is an endpoint and not yet a path" in done.err


def test_nothing_readable_is_exit_code_3(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    done = critiqor("doctor", "empty")

    assert (done.code, done.out) == (3, "")
    assert "No run was found in empty" in done.err


def test_a_trace_without_an_agent_is_told_by_who_wrote_it(critiqor: Critiqor, tmp_path: Path) -> None:
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "GET /", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    scope = {"scope": {"name": "instrumentation\x1b[2J.http"}, "spans": [span]}
    (tmp_path / "web.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}))

    done = critiqor("doctor", "web.json")

    assert done.code == 3
    assert r"They come from instrumentation\x1b[2J.http (1): instrument the agent too." in done.err


def test_standard_input_is_read(critiqor: Critiqor) -> None:
    assert "pydantic-ai: 1 run" in critiqor("doctor", "-", stdin=CLEAN.read_bytes()).out


def test_a_sealed_session_tells_what_its_trace_told(critiqor: Critiqor) -> None:
    critiqor("sessions", BLIND, "--output", "runs")

    assert critiqor("doctor", "runs").out == critiqor("doctor", BLIND).out


def test_what_a_trace_wrote_into_its_scope_is_harmless(critiqor: Critiqor, tmp_path: Path) -> None:
    hostile = LOOP.read_text().replace('"name":"pydantic-ai"', '"name":"pydantic-ai\\u001b[2J"')
    (tmp_path / "hostile.jsonl").write_text(hostile)

    done = critiqor("doctor", "hostile.jsonl")

    assert done.code == 0
    assert r"written by pydantic-ai\x1b[2J" in done.out
    assert "\x1b" not in done.out
