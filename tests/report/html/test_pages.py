"""What stands in the file of a page: escaped, bounded, the same each time, guarded by its policy."""

import base64
import gzip
import json
import re
from typing import Any

import pytest
from command import LOOP

from analyzer.cost import CostAnalysis
from analyzer.diagnosis import diagnose
from analyzer.profile import Profile
from analyzer.report.html.address import is_link, trace_link
from analyzer.report.html.block import embedded
from analyzer.report.html.index import IndexRow, index_page, row_of, row_of_file
from analyzer.report.html.money import amount, costs_of
from analyzer.report.html.page import Around, run_page
from analyzer.report.html.tallies import ModelTally, duration_text, models_of, tools_of
from analyzer.report.json_form import run_document
from analyzer.report.report import report_run
from analyzer.session.model import Event, Note, Session
from analyzer.timeline.index import build_timeline
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths


def page_of(session: Session, **around: Any) -> str:
    return run_page(report_run(diagnose(session), session), session, around=Around(**around)).decode()


@pytest.fixture(scope="module")
def loop() -> Session:
    (session,) = runs_of(gather(read_paths([str(LOOP)]))).sessions
    return session


def data_in(page: str) -> Any:
    found = re.search(r'<script type="text/plain" id="data" data-encoding="(\w+)">([^<]*)</script>', page)
    assert found is not None
    text = found[2]
    return json.loads(gzip.decompress(base64.b64decode(text)) if found[1] == "gzip" else text)


def test_a_page_is_one_file_that_names_no_other(loop: Session) -> None:
    page = page_of(loop)

    assert not re.search(r'<(?:script|img|iframe|link)[^>]*(?:src|href)="(?!data:)', page)
    assert "sourceMappingURL" not in page
    assert "@import" not in page


def test_the_policy_lets_the_page_load_and_call_nothing(loop: Session) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page_of(loop))

    assert policy is not None
    rules = dict(part.strip().split(" ", 1) for part in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert all(value.startswith("'sha256-") for value in rules["script-src"].split())
    assert all(value.startswith("'sha256-") for value in rules["style-src"].split())


def test_the_same_session_gives_the_same_bytes(loop: Session) -> None:
    assert page_of(loop) == page_of(loop)


def test_the_data_hold_steps_events_and_failures(loop: Session) -> None:
    data = data_in(page_of(loop))

    assert len(data["steps"]["kind"]) == 12
    assert len(data["events"]["id"]) == len(loop.events)
    assert [(cause["title"], cause["severity"], len(cause["events"])) for cause in data["causes"]] == [
        ("Infinite tool loop", "critical", 5)
    ]
    assert data["left_out"] == 0


@pytest.mark.parametrize("text", ["</script>", "<!--", "&lt;", "\u2028", "<script>" * 40_000])
def test_no_text_ends_the_element_that_holds_the_data(text: str) -> None:
    block = embedded({"text": text})

    assert not set("<>&") & set(block.text)
    page = page_of(
        Session(run_id="run", events=(Event(event_id="e", event="decision", event_type="plan", payload={"x": text}),))
    )
    assert data_in(page)["events"]["id"] == ["=e"]


def test_what_a_trace_says_stands_escaped_in_the_page() -> None:
    hostile = "<img src=x onerror=alert(1)>\u202e"
    page = page_of(Session(run_id=hostile, notes=(Note(code="c", message=hostile),)))

    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;\\u202e" in page


def test_a_run_without_events_has_a_page() -> None:
    assert "There is too little evidence to judge this run by." in page_of(Session(run_id="empty"))


@pytest.mark.parametrize("number", [10**30, -(10**30), float("nan"), float("inf"), True, "many", None, [1], {"a": 1}])
def test_odd_numbers_and_shapes_are_no_reason_to_fail(number: Any) -> None:
    events = (
        Event(
            event_id="a",
            event="token_usage",
            event_type="after_provider_response",
            payload={"usage": {"input_tokens": number}, "messages": number},
        ),
        Event(
            event_id="b", event="tool_call", event_type="tool_call", payload=number, duration_ms=1e300, time_ns=10**18
        ),
        Event(
            event_id="c",
            event="tool_output",
            event_type="tool_result",
            payload={"result": number, "otel": number},
            error=number,
        ),
    )

    assert len(data_in(page_of(Session(run_id="odd", events=events)))["events"]["id"]) == 3


def test_only_web_addresses_become_links(loop: Session) -> None:
    assert is_link("https://jaeger.example:16686/path")
    assert not any(map(is_link, ("javascript:alert(1)", "data:text/html,x", "//x", "http:", "ftp://x", "http://[")))
    assert trace_link("http://j/", "ab" * 16) == f"http://j/trace/{'ab' * 16}"
    assert trace_link("http://j/", "x/../y") is None
    assert "javascript:alert" not in page_of(loop, jaeger="javascript:alert(1)")


def test_contents_are_cut_and_the_page_counts_what_is_left_out() -> None:
    events = tuple(
        Event(event_id=f"e{n}", event="decision", event_type="plan", payload={"reason": f"{n} " * 5_000})
        for n in range(400)
    )
    page = page_of(Session(run_id="long", events=events))

    assert len(page) < 4_000_000
    assert any(part[3] > 0 for parts in data_in(page)["contents"] if parts for part in parts)


def test_a_row_of_the_list_is_the_same_from_a_verdict_and_from_its_file(loop: Session) -> None:
    verdict = diagnose(loop)

    assert row_of(verdict, link="x") == row_of_file(run_document(verdict), link="x")
    assert row_of(verdict).failure == "Infinite tool loop"


def test_the_list_shows_its_first_rows_without_scripts_too() -> None:
    page = index_page([IndexRow(run_id=f"<run {n}>", link=f"runs/{n}.html") for n in range(301)]).decode()

    assert page.count("&lt;run ") == 300
    assert "And 1 more" in page


@pytest.mark.parametrize(
    ("value", "currency", "told"),
    [
        (None, "USD", "?"),
        (12345.678, "USD", "$12,345.68"),
        (0.033498, "USD", "$0.0335"),
        (0.000002, "EUR", "€0.000002"),
        (0.5, "SEK", "0.5 SEK"),
        (3, None, "3.00"),
    ],
)
def test_money_is_told_with_its_sign_and_the_digits_that_count(
    value: float | None, currency: str | None, told: str
) -> None:
    assert amount(value, CostAnalysis(currency=currency)) == told


def test_a_run_that_costs_money_says_so() -> None:
    costs = CostAnalysis(
        total_tokens=10,
        cost=0.25,
        cost_complete=False,
        currency="USD",
        prices_as_of="2026-01-01",
        unpriced_models=("m",),
        wasted_cost=0.1,
        waste_by_cause={"infinite_tool_loop": 0.1},
    )

    assert dict(costs_of(costs)) == {
        "Tokens in all": "10",
        "Tokens wasted": "?",
        "Duplicate calls": "?",
        "Redundancy": "?",
        "Cost efficiency": "?",
        "Cost": "≥ $0.25",
        "Spent for nothing": "$0.1",
        "… by infinite tool loop": "$0.1",
        "Prices as of": "2026-01-01",
        "Price not known": "m",
    }


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, "?"), (0.0, "0 ms"), (0.25, "250 ms"), (2.5, "2.50 s"), (185, "3 min 5 s"), (3_840, "1 h 4 min")],
)
def test_durations_are_told_as_people_say_them(seconds: float | None, told: str) -> None:
    assert duration_text(seconds) == told


def test_tools_and_models_are_counted(loop: Session) -> None:
    timeline = build_timeline(loop, Profile.STANDARD)

    assert [(one.name, one.calls, one.failed) for one in tools_of(timeline)] == [("search_docs", 5, 0)]
    assert models_of(timeline) == [ModelTally("fake-gpt-1", 6, 0, 1_099)]
