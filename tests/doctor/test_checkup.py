"""What traces carry is told by family, with the setting that brings what they lack."""

import re
from itertools import chain

import msgspec
import pytest
from captured import FAMILIES as FOLDERS
from captured import SCENARIOS, sessions_of
from drawn_sessions import SESSIONS
from hypothesis import given
from not_carried import ABSENT, NO_CACHED_INPUT, PARTIAL

from analyzer.detectors.registry import ALL as DETECTORS
from analyzer.diagnosis import diagnose
from analyzer.session.codec import read_session, write_session
from analyzer.session.model import Event, Session
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import Convention
from critiqor_otel.conventions.registry import ALL
from critiqor_otel.engine.checkup import Carriage, FamilyReport, checkup

MADE_UP = {"traps_synthetic", "semconv_latest_synthetic"}  # written by hand: no library to switch anything on in
FULL = [
    *("langfuse/clean_two_tools", "mlflow/clean_two_tools", "strands/clean_two_tools", "pydantic_ai/clean_two_tools"),
    *(
        "openinference_langchain/clean_two_tools",
        "openllmetry_langchain/clean_two_tools",
        "vercel_ai_v5/clean_two_tools",
    ),
    *("otel_genai_openai/clean_two_tools", "google_adk_latest_semconv/clean_two_tools"),
    *("ms_agent_framework/clean_two_tools", "otel_genai_openai_agents_full/repeat_identical_calls"),
]
SWITCHES = {
    "claude_code_default_redacted": {
        "tool_arguments": "OTEL_LOG_TOOL_DETAILS",
        "tool_results": "OTEL_LOG_TOOL_CONTENT",
    },
    "google_adk": {"tool_arguments": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"},
    "litellm_otel": {"tool_calls": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"},
    "openclaw": {"tool_arguments": "diagnostics.otel.captureContent"},
    "openinference_google_adk": {"model_calls": "openinference-instrumentation-google-adk"},
    "openinference_llamaindex": {"tokens": "ChatResponse.raw"},
    "openllmetry_crewai": {"tool_calls": "openinference-instrumentation-crewai"},
    "otel_genai_openai_agents": {"tokens": "opentelemetry-instrumentation-genai-openai"},
    "otel_openai_v2_nocontent": {"tool_arguments": "CAPTURE_MESSAGE_CONTENT=true", "tool_errors": "log records"},
    "pydantic_ai_nocontent": {"tool_arguments": "include_content"},
}


def reports(*scenarios: str) -> tuple[FamilyReport, ...]:
    return checkup(chain.from_iterable(map(sessions_of, scenarios))).families


def of(folder: str) -> list[str]:
    return [scenario for scenario in SCENARIOS if scenario.partition("/")[0] == folder]


@pytest.mark.parametrize("scenario", FULL)
def test_a_family_that_tells_all_lacks_nothing_that_a_detector_needs(scenario: str) -> None:
    for family in reports(scenario):
        assert {name for name in Fact if family.facts[name].carriage is not Carriage.WHOLE} == set()
        assert {detector.sight for detector in family.detectors} == {Carriage.WHOLE}


@pytest.mark.parametrize("folder", SWITCHES)
def test_a_family_without_content_names_its_switch(folder: str) -> None:
    (family,) = reports(*of(folder))

    for name, switch in SWITCHES[folder].items():
        assert any(switch in remedy for remedy in family.facts[name].remedies)


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder not in MADE_UP])
def test_all_that_a_capture_is_known_to_lack_has_a_remedy(folder: str) -> None:
    known = {fact for table in (ABSENT, PARTIAL) for key in (folder, *of(folder)) for fact in table.get(key, ())}
    families = reports(*of(folder))

    for name in sorted(known | ({"cached_input"} if folder in NO_CACHED_INPUT else set())):
        lacking = [family.facts[name] for family in families if family.facts[name].carriage is not Carriage.WHOLE]
        assert all(fact.remedies for fact in lacking)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_a_diagnosis_says_is_missing_the_checkup_says_too(scenario: str) -> None:
    for session in sessions_of(scenario):
        families = checkup([session]).families
        facts = {name: {family.facts[name].carriage for family in families} for name in Fact}
        missing = set(diagnose(session).evidence_summary.missing)

        assert missing <= {name for name in Fact if facts[name] != {Carriage.WHOLE}}


def test_a_detector_is_blind_without_what_it_needs() -> None:
    (family,) = reports("pydantic_ai_nocontent/repeat_identical_calls")

    sights = {report.failure_type: (report.sight, report.lacks) for report in family.detectors}
    assert sights["infinite_tool_loop"] == (Carriage.NONE, ("tool_arguments",))
    assert sights["skill_failure"] == (Carriage.WHOLE, ())
    assert [report.failure_type for report in family.detectors] == [one.failure_type for one in DETECTORS]


def test_runs_with_and_without_content_carry_it_in_part() -> None:
    (family,) = reports("pydantic_ai/repeat_identical_calls", "pydantic_ai_nocontent/repeat_identical_calls")

    arguments = family.facts["tool_arguments"]
    assert family.runs == 2
    assert (arguments.carriage, arguments.seen, arguments.of) == (Carriage.PART, 5, 10)
    assert {report.failure_type: report.sight for report in family.detectors}["infinite_tool_loop"] is Carriage.PART


def test_the_families_of_an_input_are_told_apart_in_order_of_precedence() -> None:
    families = reports(
        "otel_genai_openai/clean_two_tools", "claude_code/clean_two_tools", "vercel_ai_v5/clean_two_tools"
    )

    assert [family.family for family in families] == ["claude-code", "vercel", "otel-genai"]


def test_each_library_of_a_family_has_its_own_switch() -> None:
    (family,) = reports("otel_openai_v2_nocontent/clean_two_tools", "otel_genai_openai_agents/clean_two_tools")

    assert "export log records" in "".join(family.facts["tool_arguments"].remedies)
    assert "instrumentation-genai-openai" in "".join(family.facts["tokens"].remedies)


def test_spans_that_no_table_knows_are_counted_by_scope() -> None:
    assert checkup(sessions_of("otel_genai_openai/clean_two_tools")).unknown_scopes == {"app": 1}


def test_the_order_of_sessions_changes_nothing() -> None:
    sessions = [session for scenario in SCENARIOS for session in sessions_of(scenario)]

    assert checkup(sessions) == checkup(reversed(sessions))


@pytest.mark.parametrize("scenario", ["pydantic_ai_nocontent/repeat_identical_calls", "codex/clean_two_tools"])
def test_a_session_file_is_as_good_as_its_trace(scenario: str) -> None:
    files = [read_session(write_session(session)) for session in sessions_of(scenario)]

    assert checkup(files) == checkup(sessions_of(scenario))


def test_events_of_no_span_are_ours() -> None:
    event = Event(event_id="1", event="tool_call", event_type="tool_call", tool_name="ls", payload={})
    (family,) = checkup([Session(run_id="run", events=(event,))]).families

    assert (family.family, family.runs, family.spans) == ("critiqor", 1, 0)
    assert family.facts["tool_arguments"].carriage is Carriage.NONE
    assert any("capture_content" in remedy for remedy in family.facts["tool_arguments"].remedies)


@given(SESSIONS)
def test_no_session_is_too_odd_to_be_looked_at(session: Session) -> None:
    assert sum(family.runs for family in checkup([session]).families) >= 1


def test_no_sessions_make_no_families() -> None:
    empty = checkup([])

    assert (empty.families, empty.unknown_scopes) == ((), {})
    assert msgspec.json.encode(empty)


@pytest.mark.parametrize("convention", ALL, ids=lambda convention: convention.name)
def test_every_family_has_remedies_that_are_sentences(convention: Convention) -> None:
    tables = [convention.remedies, *(library.remedies for library in convention.libraries)]
    told = [remedy for table in tables for remedy in table.values()]

    assert convention.remedies or convention.name == "retry-events"  # no library writes them: there is no switch
    assert [remedy for remedy in told if not re.fullmatch(r"[A-Z][a-z]+ .*\.", remedy)] == []
