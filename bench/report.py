"""How a report of a long run opens: the size of the page, the work of the browser, how long it does not answer.

Each figure is measured in one run of one browser; the ratio says what ten times the events cost.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from analyzer.diagnosis import diagnose
from analyzer.report.html.page import run_page
from analyzer.report.report import report_run
from analyzer.session.model import Agent, Event, Session, SpanRef

__all__ = ["long_session", "main"]

RESULTS = Path(__file__).with_name("report.md")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
REPEATS = 5
FREEZE = 400  # ms in which the page does not answer: what people notice as a hang begins about there
SMOOTH = 10_000  # events up to which nobody notices how long the run is
LARGEST = 5_000_000  # bytes of the page of 100,000 events

_WORDS = (
    "the",
    "agent",
    "asked",
    "for",
    "an",
    "answer",
    "about",
    "refund",
    "policy",
    "order",
    "price",
    "stock",
    "today",
)


class Opened(NamedTuple):
    """How one page opened."""

    ready_ms: float
    busy_ms: float
    """Time of the page's main thread in tasks."""
    longest_ms: float
    """The longest task: for so long the page does not answer."""
    scroll_ms: float
    """The longest task while its timeline is scrolled from end to end and filtered."""


def main() -> int:
    """Measure, print the table and write it; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="small pages, once: shows that it runs")
    quick = options.parse_args().quick
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("Opening a report was not measured: there is no Chromium (apt-get install chromium).")
        return 0
    sizes, repeats = ((500, 1_000), 1) if quick else ((1_000, 10_000, 100_000), REPEATS)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        rows = [_measured(browser, Path(folder), size, repeats) for size in sizes]
        browser.close()
    lines = ["# Opening a report", "", "What `bench/report.py` measured, medians of five.", "", *_table(rows)]
    print("\n".join(lines))
    if not quick:
        RESULTS.write_text("\n".join(lines) + "\n")
    return int(not quick and any(_missed(row) for row in rows))


class _Row(NamedTuple):
    events: int
    size: int
    making_s: float
    diagnosing_s: float
    opened: Opened


def _measured(browser: Browser, folder: Path, events: int, repeats: int) -> _Row:
    session = long_session(events)
    started = time.process_time()
    verdict = diagnose(session)
    diagnosed = time.process_time()
    page = run_page(report_run(verdict, session), session)
    made = time.process_time()
    place = folder / f"{events}.html"
    place.write_bytes(page)
    openings = [_open(browser, place) for _ in range(repeats)]
    opened = Opened(*(median(values) for values in zip(*openings, strict=True)))
    return _Row(events, len(page), made - diagnosed, diagnosed - started, opened)


_WATCH = """
window.tasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((one) => window.tasks.push(one.duration)))
  .observe({ type: "longtask", buffered: true });
"""
_SCROLL = """
async () => {
  const rows = document.querySelector(".rows");
  for (let at = 0; at <= 20; at += 1) {
    rows.scrollTop = rows.scrollHeight * at / 20;
    await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
  }
}
"""


def _open(browser: Browser, place: Path) -> Opened:
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    page.add_init_script(_WATCH)
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(place.as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    ready = float(page.evaluate("performance.now()"))
    page.wait_for_timeout(300)
    metrics = {row["name"]: row["value"] for row in client.send("Performance.getMetrics")["metrics"]}
    opening = _tasks(page)
    page.evaluate(_SCROLL)
    page.fill("input[type=search]", "refund")
    page.wait_for_timeout(300)
    later = _tasks(page)[len(opening) :]
    page.close()
    return Opened(ready, metrics["TaskDuration"] * 1000, max(opening, default=0.0), max(later, default=0.0))


def _tasks(page: Any) -> list[float]:
    tasks: list[float] = page.evaluate("window.tasks")
    return tasks


def _table(rows: list[_Row]) -> Iterator[str]:
    yield "| events | page | made in | against diagnosing | ready after | busy | longest task | scrolling, filtering |"
    yield "|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        opened = row.opened
        yield (
            f"| {row.events:,} | {row.size / 1e6:.2f} MB | {row.making_s:.2f} s | {row.making_s / row.diagnosing_s:.1f}"
            f" | {opened.ready_ms:.0f} ms | {opened.busy_ms:.0f} ms | {opened.longest_ms:.0f} ms"
            f" | {opened.scroll_ms:.0f} ms |"
        )
    yield ""
    yield f"Targets: at 10,000 events no task over {FREEZE} ms; at 100,000 events a page under 5 MB."


def _missed(row: _Row) -> bool:
    return row.size > LARGEST or (row.events <= SMOOTH and row.opened.longest_ms > FREEZE)


def long_session(events: int) -> Session:
    """Return a run of turns, each of model calls and tool calls with spans and contents of its own, seeded."""
    return Session(
        run_id=f"run of {events} events",
        agent=Agent(name="long_agent", framework="bench"),
        trace_ids=("ab" * 16,),
        events=tuple(_events(events, random.Random(1))),
    )


def _events(count: int, source: random.Random) -> Iterator[Event]:
    clock = _Clock(source)
    root = clock.span()
    yield clock.event(root, 0, "state_transition", "agent_start", {"agent": "long_agent"}, above=None)
    made = 1
    while made + 10 < count:
        turn = clock.span()
        yield clock.event(turn, 0, "state_transition", "turn_start", {"name": "turn"}, above=root)
        for _ in range(2):
            yield from clock.model_call(turn)
            yield from clock.tool_call(turn)
        yield clock.event(turn, 1, "state_transition", "turn_end", {"name": "turn"})
        made += 10
    yield clock.event(root, 1, "state_transition", "agent_end", {"agent": "long_agent", "output": "done"}, status="ok")


class _Clock:
    """Makes events one after the other."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self._now = 1_700_000_000_000_000_000
        self._calls = 0

    def span(self) -> SpanRef:
        return SpanRef("ab" * 16, f"{self._source.getrandbits(64):016x}")

    def text(self, words: int) -> str:
        return " ".join(self._source.choice(_WORDS) + str(self._source.randrange(99)) for _ in range(words))

    def event(self, span: SpanRef, number: int, kind: str, name: str, payload: dict[str, Any], **fields: Any) -> Event:
        self._now += self._source.randrange(1_000_000, 90_000_000)
        if "above" in fields:
            above: SpanRef | None = fields.pop("above")
            payload = {**payload, "otel": {"name": name, "parent_span_id": None if above is None else above.span_id}}
        return Event(
            event_id=f"{span.span_id}:{number}",
            event=kind,
            event_type=name,
            time_ns=self._now,
            payload=payload,
            span=span,
            **fields,
        )

    def model_call(self, above: SpanRef) -> Iterator[Event]:
        span = self.span()
        said = [{"role": "user", "text": self.text(40)}]
        asked = {"model": "bench-1", "messages": said, "messages_total": 9}
        yield self.event(span, 0, "state_transition", "before_provider_request", asked, above=above)
        usage = {"input_tokens": self._source.randrange(100, 4000), "output_tokens": self._source.randrange(5, 300)}
        answer = {"model": "bench-1", "usage": usage, "messages": [{"role": "assistant", "text": self.text(25)}]}
        yield self.event(span, 1, "token_usage", "after_provider_response", answer, status="ok", duration_ms=40.0)

    def tool_call(self, above: SpanRef) -> Iterator[Event]:
        span = self.span()
        self._calls += 1
        again = self._calls % 50 == 0
        tool = "search_docs" if again else f"tool_{self._calls % 9}"
        common = {"tool_name": tool, "tool_call_id": f"call_{self._calls}"}
        query = {"query": "refund policy"} if again else {"query": self.text(6), "page": self._calls}
        failed = self._calls % 97 == 0
        result = "Error: timed out" if failed else "nothing" if again else self.text(60)
        yield self.event(span, 0, "tool_call", "tool_call", {"input": query}, above=above, **common)
        status = "error" if failed else "ok"
        yield self.event(span, 1, "tool_output", "tool_result", {"result": result}, status=status, **common)


if __name__ == "__main__":
    sys.exit(main())
