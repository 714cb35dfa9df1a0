"""How fast it is, as ratios within one run; absolute times differ from machine to machine and are shown beside."""

import argparse
import gc
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from spans import write_otlp_json, write_otlp_protobuf

from analyzer.bulk import bulk_work
from analyzer.detectors.detector import Detector
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import Profile, diagnose
from analyzer.evaluation import HISTORY_FILE, Diagnosed, History
from analyzer.report.json_form import encode_json
from analyzer.session.model import Event, Session
from critiqor_otel.decode.otlp_json_forms import read_request
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths

__all__ = ["main"]

RESULTS = Path(__file__).with_name("results.md")
REPEATS = 5
RUNS, SPANS = 400, 100  # of the file benchmarks
SMALL, LARGE = 100_000, 400_000  # events
KEPT = 1_000  # runs of a history
LINEAR = 4.4  # four times the events, and a tenth for what caches do

# An installed command has its bytecode; one from a checkout keeps it too, where the environment does not forbid it.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

Row = tuple[str, str, str, str]
"""What, the figure, the target (empty: none), what it was measured from."""


def main() -> int:
    """Measure all, print the table and write it; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of the input, once: shows that it runs")
    quick = options.parse_args().quick
    scale, repeats = (10, 1) if quick else (1, REPEATS)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for measured in (
            linearity(scale, repeats),
            roads(place, scale, repeats),
            start_up(repeats),
            following(place / "runs", scale, repeats),
        ):
            for row in measured:
                print(" | ".join(row), flush=True)
                rows.append(row)
    if not quick:
        RESULTS.write_text("\n".join(_document(rows)))
    return int(not quick and any(_missed(row) for row in rows))


def linearity(scale: int, repeats: int) -> Iterator[Row]:
    """Compare sessions of 100,000 and 400,000 events, in both profiles."""
    small, large = _session(SMALL // scale), _session(LARGE // scale)
    for profile in Profile:
        work = partial(_diagnose, profile=profile)
        pair = _pairs(partial(work, small), partial(work, large), repeats)
        what = f"diagnose, {profile}: {LARGE // scale:,} events against {SMALL // scale:,}"
        yield what, f"{pair.ratio:.2f}", f"≤ {LINEAR}", f"{pair.other:.2f} s / {pair.base:.2f} s"


def roads(folder: Path, scale: int, repeats: int) -> Iterator[Row]:
    """Compare the whole road, file to verdict, with the bare parse of the same file."""
    runs = max(RUNS // scale, 2)
    lines, messages = folder / "spans.jsonl", folder / "spans.pb"
    count = write_otlp_json(lines, runs=runs, spans=SPANS)
    write_otlp_protobuf(messages, runs=runs, spans=SPANS)
    for form, parser, parse, path, target in (
        ("JSON lines", "typed msgspec", _parse_json, lines, "≤ 5"),
        ("protobuf", "upb", _parse_protobuf, messages, "≤ 15"),
    ):
        for what, work, limit in (
            ("read into spans", _read, ""),
            ("file to verdict, six detectors", _six_road, target),
        ):
            pair = _pairs(partial(parse, path), partial(work, path), repeats)
            measured = f"{pair.other / count * 1e6:.1f} µs / {pair.base / count * 1e6:.1f} µs a span"
            yield f"{form}: {what}, against {parser} alone", f"{pair.ratio:.1f}", limit, measured
    pair = _pairs(partial(_six_road, lines), partial(_whole_road, lines), repeats)
    measured = f"{pair.other / count * 1e6:.1f} µs / {pair.base / count * 1e6:.1f} µs a span"
    yield f"JSON lines: file to verdict, {len(ALL)} detectors against six", f"{pair.ratio:.2f}", "≤ 1.6", measured


def start_up(repeats: int) -> Iterator[Row]:
    """Compare starting the command with starting Python."""
    command = str(Path(sys.executable).with_name("critiqor-otel"))
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.jsonl"
        write_otlp_json(small, runs=1, spans=13)
        for words, target in ((["--help"], "≤ 8"), (["explain"], ""), (["diagnose", str(small)], "≤ 25")):
            bare, started = [sys.executable, "-c", "pass"], [command, *words]
            pair = _pairs(partial(_start, bare), partial(_start, started), 2 * repeats, time.perf_counter)
            measured = f"{pair.other * 1000:.0f} ms / {pair.base * 1000:.0f} ms"
            what = f"critiqor-otel {words[0]}{' of 13 spans' if words[1:] else ''}, against python -c pass"
            yield what, f"{pair.ratio:.1f}", target, measured


def following(runs: Path, scale: int, repeats: int) -> Iterator[Row]:
    """Compare following the runs of a history with starting Python."""
    count = KEPT // scale
    with History(runs / HISTORY_FILE) as history:
        history.save_diagnoses(Diagnosed(_verdict(number)) for number in range(count))
    bare, command = [sys.executable, "-c", "pass"], str(Path(sys.executable).with_name("critiqor-otel"))
    for verb in ("trends", "runs"):
        pair = _pairs(partial(_start, bare), partial(_start, [command, verb, str(runs)]), repeats, time.perf_counter)
        measured = f"{pair.other * 1000:.0f} ms / {pair.base * 1000:.0f} ms"
        yield f"critiqor-otel {verb} over {count:,} runs, against python -c pass", f"{pair.ratio:.1f}", "", measured


def _verdict(number: int) -> dict[str, object]:
    """Return a run's verdict as the history takes it: one in three failed in two ways."""
    causes = [{"type": kind, "severity": "high", "impact": -12, "evidence": ["e"] * 20} for kind in ("loop", "cost")]
    return {
        "run_id": f"run_{number}",
        "agent": {"name": f"agent_{number % 5}"},
        "timestamp": f"2026-01-{number % 28 + 1:02d}T00:00:00Z",
        "trust_score": 60 + number % 40,
        "readiness_level": "review_recommended",
        "scores": {f"dimension_{position}": number % 100 for position in range(6)},
        "failure_causes": causes if number % 3 == 0 else [],
        "runtime_metrics": {"latency": 2.5, "retries": 0, "errors": []},
    }


def _session(events: int) -> Session:
    """Return a run of tool calls, their results and model calls; one call in ten repeats an earlier one."""
    return Session(run_id="bench", events=tuple(_events(events)))


def _events(count: int) -> Iterator[Event]:
    for number in range(0, count, 4):
        again = number % 40 == 0
        call, tool = f"call_{number}", "search" if again else f"tool_{number % 7}"
        query = {"query": "opening hours" if again else f"q{number}", "note": "x" * 60}
        result = {"result": "none" if again else f"found {number}"}
        common = {"tool_name": tool, "tool_call_id": call}
        yield _event(number, "tool_call", "tool_call", {"input": query}, **common)
        yield _event(number + 1, "tool_output", "tool_result", result, status="ok", **common)
        yield _event(number + 2, "state_transition", "before_provider_request", {"model": "m", "messages": []})
        usage = {"input_tokens": 100, "output_tokens": 10, "total": 110}
        yield _event(number + 3, "token_usage", "after_provider_response", {"model": "m", "usage": usage})


def _event(number: int, kind: str, event_type: str, payload: object, **fields: str) -> Event:
    return Event(
        event_id=f"event_{number}",
        event=kind,
        event_type=event_type,
        time_ns=1_780_000_000_000_000_000 + number * 1_000_000,
        payload=payload,
        **fields,
    )


def _diagnose(session: Session, *, profile: Profile) -> None:
    diagnose(session, profile=profile)


def _parse_json(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        read_request(line)


def _parse_protobuf(path: Path) -> None:
    ExportTraceServiceRequest.FromString(path.read_bytes())


def _read(path: Path) -> None:
    gather(read_paths([str(path)]))


def _whole_road(path: Path, detectors: tuple[Detector, ...] = ALL) -> None:
    for session in runs_of(gather(read_paths([str(path)]))).sessions:
        encode_json(diagnose(session, detectors=detectors).to_dict())


_SIX = tuple(detector for detector in ALL if Profile.CRITIQOR_V1 in detector.find)  # the documented ones
_six_road = partial(_whole_road, detectors=_SIX)


def _start(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, env=_ENVIRONMENT)


class _Pair(NamedTuple):
    """Seconds, medians of several rounds, and the median of the rounds' ratios."""

    base: float
    other: float
    ratio: float


def _pairs(
    base: Callable[[], object],
    other: Callable[[], object],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
) -> _Pair:
    """Time the two in turn, so that what else the machine does meets both."""
    rounds = [(_seconds(base, clock), _seconds(other, clock)) for _ in range(repeats)]
    ratios = (late / early for early, late in rounds)
    return _Pair(*map(statistics.median, zip(*rounds, strict=True)), statistics.median(ratios))


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    gc.collect()
    begin = clock()
    with bulk_work():
        work()
    return clock() - begin


def _missed(row: Row) -> bool:
    _, figure, target, _ = row
    return bool(target) and float(figure) > float(target.removeprefix("≤ "))


def _document(rows: list[Row]) -> Iterator[str]:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("msgspec", "protobuf", "click", "rich"))
    yield "# Benchmarks"
    yield ""
    yield "Made by `make bench`. Ratios within one run count; the times beside them are of this machine on that day."
    yield f"Medians of {REPEATS} rounds, CPU time (start-up: the clock on the wall)."
    yield f"File benchmarks: {RUNS * SPANS:,} spans of twelve attributes in {RUNS} interleaved runs."
    yield ""
    yield f"Python {platform.python_version()}, {packages}, {platform.system()} {platform.machine()}."
    yield ""
    yield "| what | ratio | target | measured |"
    yield "|---|--:|--:|---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
