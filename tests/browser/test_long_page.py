"""Long runs: the page stays small, only what is in sight is in the document, and what is not shown is counted."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import opened, written_page
from playwright.sync_api import Browser, expect

from analyzer.session.model import Event, Session, SpanRef

TRACE = "ab" * 16


def long_session(turns: int) -> Session:
    """Return a run of turns, each a tool call whose arguments and result no other has; one call in fifty fails."""
    return Session(run_id="long", events=tuple(_events(turns, random.Random(3))))


def _events(turns: int, source: random.Random) -> Iterator[Event]:
    at = 1_700_000_000_000_000_000
    for number in range(turns):
        above, span = (SpanRef(TRACE, f"{source.getrandbits(64):016x}") for _ in range(2))
        call = {"tool_name": f"tool_{number % 5}", "tool_call_id": f"call_{number}", "span": span}
        at += 40_000_000
        yield _event(
            above, 0, "state_transition", "turn_start", at, {"name": f"turn {number}", "otel": {"name": "turn"}}
        )
        asked = {"input": {"q": source.randbytes(60).hex()}, "otel": {"name": "t", "parent_span_id": above.span_id}}
        yield _event(**call, number=0, kind="tool_call", name="tool_call", at=at + 1_000_000, payload=asked)
        failed = number % 50 == 7
        result = {"result": "Error: no such thing" if failed else source.randbytes(200).hex()}
        status = "error" if failed else "ok"
        yield _event(
            **call, number=1, kind="tool_output", name="tool_result", at=at + 9_000_000, payload=result, status=status
        )
        yield _event(above, 1, "state_transition", "turn_end", at + 20_000_000, {"name": f"turn {number}"})


def _event(span: SpanRef, number: int, kind: str, name: str, at: int, payload: Any, **fields: Any) -> Event:
    return Event(
        event_id=f"{span.span_id}:{number}",
        event=kind,
        event_type=name,
        time_ns=at,
        payload=payload,
        span=span,
        **fields,
    )


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_page(long_session(2_500), tmp_path_factory.mktemp("long"))


def test_only_the_rows_in_sight_are_in_the_document(browser: Browser, long_page: Path) -> None:
    with opened(browser, long_page) as seen:
        page = seen.page
        page.get_by_role("button", name="Expand all").click()

        assert 0 < page.locator(".row").count() < 60
        assert page.evaluate("document.querySelectorAll('*').length") < 3_000
        page.get_by_role("treegrid").focus()
        page.keyboard.press("End")
        expect(page.locator(".row-active")).to_be_visible()
        assert page.locator(".row").count() < 60
        assert seen.errors == []


def test_one_step_of_thousands_is_found(browser: Browser, long_page: Path) -> None:
    with opened(browser, long_page) as seen:
        seen.page.get_by_role("searchbox").fill("turn 1999")
        expect(seen.page.locator(".shown")).to_have_text("1 of 5,000 steps")
        seen.page.get_by_role("searchbox").fill("")
        seen.page.get_by_role("button", name="Failed", exact=True).click()

        expect(seen.page.locator(".shown")).to_have_text("50 of 5,000 steps")


def test_a_run_of_a_hundred_thousand_events_is_a_small_page_that_counts_what_it_leaves_out(
    browser: Browser, tmp_path: Path
) -> None:
    place = written_page(long_session(25_000), tmp_path)

    assert place.stat().st_size < 5_000_000
    with opened(browser, place) as seen:
        page = seen.page
        expect(page.locator("#timeline .hint")).to_contain_text("steps are only counted here")
        page.get_by_role("searchbox").fill("more steps")
        row = page.locator(".row-folded").first
        row.click()
        expect(page.locator("#panel")).to_contain_text("only counted in this page")
        page.get_by_role("searchbox").fill("")
        page.get_by_role("button", name="Failed", exact=True).click()
        expect(page.locator(".shown")).to_contain_text("500 of")
        assert seen.errors == []
