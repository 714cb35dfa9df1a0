"""What observing costs the agent's process, as ratios within one run: processor, OTLP exporter, session files."""

import argparse
import gc
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as StockExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from critiqor_otel import CritiqorSpanProcessor, ExportRules, OTLPSpanExporter, SessionExporter, SpanBatcher

__all__ = ["main"]

RESULTS = Path(__file__).with_name("emit.md")
ROUNDS = 5
SPANS, RUN = 20_000, 50  # spans a round, and of one run
BURST, PAUSE = 200, 0.005  # spans that come at once, and seconds in which exporters catch up
QUEUE = {"max_queue_size": 100_000, "max_export_batch_size": 512}

SINK = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200); self.send_header("content-length", "0"); self.end_headers()
    def log_message(self, *_): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""

Row = tuple[str, str, str, str]
"""What, the figure, the target, what it was measured from."""


def main() -> int:
    """Measure all, print the table and write it; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of the spans, once: shows that it runs")
    quick = options.parse_args().quick
    count, rounds = (SPANS // 10, 1) if quick else (SPANS, ROUNDS)
    sink = subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
    try:
        endpoint = f"http://127.0.0.1:{int(next(iter(sink.stdout or ())))}/v1/traces"
        rows = [
            *processor(count, rounds),
            *exporters(count, rounds, endpoint, burst=BURST),
            *exporters(count, rounds, endpoint, burst=count),
        ]
    finally:
        sink.terminate()
        sink.wait()
    for row in rows:
        print(" | ".join(row))
    if not quick:
        RESULTS.write_text("\n".join(_document(rows)))
    return int(not quick and any(_missed(row) for row in rows))


def processor(count: int, rounds: int) -> Iterator[Row]:
    """Compare starting and ending spans with the processor and without, in the calling thread."""
    found: dict[str, list[float]] = {"bare": [], "processor": [], "no-op": []}
    for _ in range(rounds):
        for name, own in (("bare", None), ("processor", CritiqorSpanProcessor(end_open=False)), ("no-op", _Nothing())):
            found[name].append(_time(time.thread_time, lambda own=own: _spans(_provider(own), count)))  # type: ignore[misc]
    bare = statistics.median(found["bare"])
    for name, target in (("processor", "≤ 0.12"), ("no-op", "")):
        ratio = statistics.median((other - base) / base for other, base in zip(found[name], found["bare"], strict=True))
        what = f"{'CritiqorSpanProcessor' if name == 'processor' else 'a processor that does nothing'}, start + end"
        measured = f"{ratio * bare / count * 1e6:.2f} µs / {bare / count * 1e6:.2f} µs a span"
        yield f"{what}, against the SDK's own span", f"{ratio:.2f}", target, measured


def exporters(count: int, rounds: int, endpoint: str, *, burst: int) -> Iterator[Row]:
    """Compare what exporters add to the whole process's CPU time, with what the stock exporter adds.

    Spans come in bursts with pauses, as from an agent, or all at once, when what waits costs more than what is done.
    """
    found: dict[str, list[float]] = {name: [] for name in _EXPORTERS}
    for _ in range(rounds):
        for name, make in _EXPORTERS.items():
            with tempfile.TemporaryDirectory() as folder:
                made = make(endpoint, folder)
                took = _time(time.process_time, lambda made=made: _exported(made, count, burst))  # type: ignore[misc]
                found[name].append(took)
    stock = [one - base for one, base in zip(found["stock"], found["bare"], strict=True)]
    at_once = burst == count
    rows = (
        ("otlp", "OTLPSpanExporter + SpanBatcher", "≤ 0.25"),
        ("bare otlp", "the same without redaction", ""),
        ("sessions", "SessionExporter + SpanBatcher, files written by its helper", "≤ 0.4"),
    )
    for name, what, target in rows:
        added = [one - base for one, base in zip(found[name], found["bare"], strict=True)]
        ratio = statistics.median(one / other for one, other in zip(added, stock, strict=True))
        middle, other = statistics.median(added) / count * 1e6, statistics.median(stock) / count * 1e6
        measured = f"{middle:.1f} µs / {other:.1f} µs a span"
        how = "all at once" if at_once else f"bursts of {burst}"
        full = f"{what}, {how}: process CPU added, against the stock OTLP exporter"
        yield full, f"{ratio:.2f}", "" if at_once else target, measured


class _Nothing(SpanProcessor):
    """What any processor costs."""


_EXPORTERS: dict[str, Callable[[str, str], SpanProcessor | None]] = {
    "bare": lambda _endpoint, _folder: None,
    "stock": lambda endpoint, _: BatchSpanProcessor(StockExporter(endpoint=endpoint), **QUEUE),
    "otlp": lambda endpoint, _: SpanBatcher(OTLPSpanExporter(endpoint=endpoint)),
    "bare otlp": lambda endpoint, _: SpanBatcher(
        OTLPSpanExporter(endpoint=endpoint, rules=ExportRules(redaction=None))
    ),
    "sessions": lambda _, folder: SpanBatcher(SessionExporter(folder)),
}


def _provider(own: SpanProcessor | None) -> TracerProvider:
    provider = TracerProvider(resource=Resource({"service.name": "agent"}), shutdown_on_exit=False)
    if own is not None:
        provider.add_span_processor(own)
    return provider


def _exported(own: SpanProcessor | None, count: int, burst: int) -> None:
    provider = _provider(own)
    for _ in range(0, count, burst):
        _spans(provider, burst)
        if burst < count:
            time.sleep(PAUSE)
    provider.shutdown()


def _spans(provider: TracerProvider, count: int) -> None:
    """Start and end agent spans of twelve attributes, 900 bytes as protobuf, in runs of fifty."""
    tracer = provider.get_tracer("agent")
    for start in range(0, count, RUN):
        root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
        with tracer.start_as_current_span("invoke_agent helper", attributes=root):
            for number in range(start, start + RUN - 1):
                tracer.start_span("execute_tool search", attributes=_attributes(number, start)).end()


def _attributes(number: int, run: int) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": f"tool_{number % 5}",
        "gen_ai.tool.call.id": f"call_{number:024x}",
        "gen_ai.agent.name": "helper",
        "gen_ai.conversation.id": f"conversation-{run}",
        "gen_ai.tool.call.arguments": f'{{"query": "opening hours {number}", "note": "{"who is in " * 8}"}}',
        "gen_ai.tool.call.result": f'{{"hits": [{{"title": "page {number}", "text": "{"some words " * 8}"}}]}}',
        "server.address": "tools.internal",
        "server.port": 8080,
        "app.step": number,
        "app.tenant": "acme",
        "app.is_retry": False,
    }


def _time(clock: Callable[[], float], work: Callable[[], object]) -> float:
    gc.collect()
    begin = clock()
    work()
    return clock() - begin


def _missed(row: Row) -> bool:
    return bool(row[2]) and float(row[1]) > float(row[2].removeprefix("≤ "))


def _document(rows: list[Row]) -> Iterator[str]:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("opentelemetry-sdk", "msgspec"))
    yield "# What observing costs the agent's process"
    yield ""
    yield "Made by `make bench`. Ratios within one run count; the times beside them are of this machine on that day."
    yield f"Medians of {ROUNDS} rounds of {SPANS:,} spans with twelve attributes, in runs of {RUN}."
    yield ""
    yield f"Python {platform.python_version()}, {versions}, {platform.system()} {platform.machine()}."
    yield ""
    yield "| what | ratio | target | measured |"
    yield "|---|--:|--:|---|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


if __name__ == "__main__":
    raise SystemExit(main())
