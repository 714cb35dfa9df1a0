"""A trace is hostile input: nothing that stands in it runs, nothing is fetched, and the page keeps its shape."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import opened, written_page
from playwright.sync_api import Browser, Page, expect

from analyzer.diagnosis import diagnose
from analyzer.report.html.index import index_page, row_of
from analyzer.session.model import Agent, Event, Note, Session, SpanRef

HOSTILE = {
    "script": "<script>window.pwned=1;alert(1)</script>",
    "closing": "</script><script>window.pwned=2</script>",
    "comment": "<!--<script>",
    "image": '"><img src=x onerror="window.pwned=3">',
    "quote": "' onmouseover='window.pwned=4' x='",
    "style": "</style><style>body{display:none}</style>",
    "template": "{{ 7 * 7 }}{% raw %}${window.pwned=5}`",
    "address": "javascript:window.pwned=6",
    "right to left": "\u202egnp.exe\u202d \u2066\u200f\u061c\u05d0\u05d1\u05d2",
    "surrogate": "\ud800 and \udc00 and \x00 and \x1b[31m and \u2028",
    "json": '{"__proto__": {"pwned": 7}, "constructor": 1}',
    "long": "W" * 5_000,
}


def hostile_session(text: str) -> Session:
    """Return a run of which every text is this one."""
    return Session(
        run_id=text,
        agent=Agent(name=text, framework=text, version=text),
        trace_ids=(text,),
        events=tuple(_events(text)),
        notes=(Note(code=text, message=text),),
        extra={text: text},
    )


def _events(text: str) -> Iterator[Event]:
    span = SpanRef(text, text)
    common = {"span": span, "tool_name": text, "source_layer": text, "extra": {text: text}}
    for number in range(0, 12, 3):
        payload = {"input": {text: text}, "agent": text, "otel": {"name": text, "parent_span_id": text}}
        at = 1_700_000_000_000_000_000 + number * 1_000_000
        call = f"{text}{number}"
        yield Event(
            event_id=f"{call}a",
            event="tool_call",
            event_type="tool_call",
            tool_call_id=call,
            time_ns=at,
            payload=payload,
            **common,
        )
        output = {"result": text, "error_type": text}
        yield Event(
            event_id=f"{call}b",
            event="tool_output",
            event_type="tool_result",
            tool_call_id=call,
            time_ns=at + 500_000,
            status="error",
            error=text,
            payload=output,
            **common,
        )
        said = {"model": text, "messages": [{"role": text, "text": text}], "usage": {"input_tokens": text, text: text}}
        yield Event(
            event_id=f"{call}c", event=text, event_type=text, time_ns=at + 600_000, status=text, payload=said, **common
        )


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('#panel details').forEach((one) => { one.open = true; })")


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_of_a_hostile_trace_runs_and_the_page_keeps_its_shape(
    browser: Browser, tmp_path: Path, kind: str
) -> None:
    page = written_page(hostile_session(HOSTILE[kind]), tmp_path, jaeger="http://localhost:16686")

    with opened(browser, page) as seen:
        seen.page.locator(".row").first.click()
        unfold(seen.page)
        seen.page.locator(".node").first.click()

        assert seen.page.evaluate("window.pwned ?? null") is None
        assert seen.page.evaluate("({}).pwned ?? null") is None
        assert (seen.errors, seen.asked_elsewhere, seen.dialogs) == ([], [], [])
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1360
        expect(seen.page.locator("#summary")).to_be_visible()
        assert seen.page.locator("main img, main script").count() == 0


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_of_a_hostile_trace_runs_in_the_list_of_runs(browser: Browser, tmp_path: Path, kind: str) -> None:
    text = HOSTILE[kind]
    session = hostile_session(text)
    place = tmp_path / "index.html"
    place.write_bytes(index_page([row_of(diagnose(session), link="runs/x.html", started=text)], notes=session.notes))

    with opened(browser, place) as seen:
        assert seen.page.evaluate("window.pwned ?? null") is None
        assert (seen.errors, seen.asked_elsewhere, seen.dialogs) == ([], [], [])
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1360


def test_marks_that_reorder_text_are_spelled_out(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written_page(hostile_session(HOSTILE["right to left"]), tmp_path)) as seen:
        seen.page.locator(".row").first.click()
        unfold(seen.page)

        assert "\u202e" not in seen.page.locator("body").inner_text()
        assert "\\u202e" in seen.page.locator("#panel pre").first.inner_text()


def test_a_megabyte_of_text_is_cut_and_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    session = hostile_session("x")
    first = session.events[0]
    big = Event(
        event_id=first.event_id,
        event="tool_call",
        event_type="tool_call",
        tool_name="big",
        time_ns=first.time_ns,
        payload={"input": "tall story " * 100_000},
    )
    place = written_page(Session(run_id="big", events=(big, *session.events[1:])), tmp_path)

    assert place.stat().st_size < 1_000_000
    with opened(browser, place) as seen:
        seen.page.locator(".row").first.click()
        seen.page.locator("#panel summary", has_text="Arguments").click()
        expect(seen.page.locator("#panel")).to_contain_text("more are in the session file")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1360
