"""How large inputs are worked on: processes, memory, kills and Dask, as ratios within one run.

Usage: `python bench/scale.py [--spans 1000000] [--only NAME …] [--work FOLDER]`; names are those of `MEASURES`. CPU
time and memory are those of all processes together. Inputs and figures stay in the folder: what is measured alone
takes its place among what was measured before.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from spans import write_otlp_json, write_scattered_json

__all__ = ["main"]

RESULTS = Path(__file__).with_name("scale.md")
COMMAND = Path(sys.executable).with_name("critiqor-otel")
SPANS_A_RUN = 50
FILES = 40  # of the scattered input
EVERY = 0.2  # seconds between two looks at the memory
TARGET = re.compile(r"[≤≥] ([\d.]+)")

Row = tuple[str, str, str, str]
"""What, the figure, the target (empty: none), what it was measured from."""

Figures = tuple[str, list[Row]]
"""Of one measure: where and with what it was taken."""


class Took(NamedTuple):
    """What a command took."""

    code: int
    wall: float
    cpu: float
    own_cpu: float
    """Of the process that asks, without its workers."""
    peak_mb: float
    product: str
    """A digest of the output."""
    bytes_out: int
    told: str
    """Standard error."""


def main() -> int:
    """Measure, print the table and write it; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--spans", type=int, default=1_000_000)
    options.add_argument("--only", nargs="*", choices=list(MEASURES), default=list(MEASURES))
    options.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "critiqor-bench")
    given = options.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    kept = given.work / f"figures-{given.spans}.json"
    figures: dict[str, Figures] = json.loads(kept.read_text()) if kept.exists() else {}
    for name in given.only:
        rows: list[Row] = []
        for row in MEASURES[name](given.work, given.spans):
            print(" | ".join(row), flush=True)
            rows.append(row)
        figures[name] = (_circumstances(), rows)
        kept.write_text(json.dumps(figures))
        RESULTS.write_text("\n".join(_document(figures, given.spans)))
    return int(any(_missed(row) for name in given.only for row in figures[name][1]))


def processes(work: Path, spans: int) -> Iterator[Row]:
    """Compare two processes with one, and four times the spans with once."""
    small, large = _runs(work, spans), _runs(work, 4 * spans)
    one, two = _diagnosed(small, "--jobs", "1"), _diagnosed(small, "--jobs", "2")
    same = "same output" if one.product == two.product else "OUTPUT DIFFERS"
    measured = f"{one.wall:.0f} s / {two.wall:.0f} s on the clock, {one.cpu:.0f} / {two.cpu:.0f} s CPU; {same}"
    yield f"{spans:,} spans: throughput of two processes against one", f"{one.wall / two.wall:.2f}", "≥ 1.6", measured
    alone = one.cpu / (two.own_cpu + (two.cpu - two.own_cpu) / 2)
    use = f"{two.own_cpu:.1f} s in the asking process; {two.cpu / two.wall:.2f} cores were to be had"
    yield "the same as CPU time allows on two free cores", f"{alone:.2f}", "", use
    four = _diagnosed(large, "--jobs", "2")
    yield f"memory of all processes, {spans:,} spans, MB", f"{two.peak_mb:.0f}", "≤ 600", "two jobs"
    yield "CPU a span, JSON lines to verdicts, µs", f"{one.cpu / spans * 1e6:.0f}", "", "one process, start-up included"
    share = 100 * two.own_cpu / two.cpu
    yield "share of the asking process, %", f"{share:.1f}", "", f"{two.own_cpu:.1f} of {two.cpu:.0f} s CPU"
    sizes = f"{small.stat().st_size / spans:.0f} bytes of JSON a span come in"
    yield "verdicts as JSON lines, bytes a span", f"{two.bytes_out / spans:.0f}", "", sizes
    growth = f"{four.peak_mb:.0f} / {two.peak_mb:.0f} MB"
    yield f"memory for {4 * spans:,} spans against {spans:,}", f"{four.peak_mb / two.peak_mb:.2f}", "≤ 1.2", growth
    times = f"{four.cpu:.0f} / {two.cpu:.0f} s CPU; {four.wall:.0f} / {two.wall:.0f} s on the clock"
    yield f"CPU for {4 * spans:,} spans against {spans:,}", f"{four.cpu / two.cpu:.2f}", "≤ 4.4", times


def kill(work: Path, spans: int) -> Iterator[Row]:
    """Kill a job when half of its work is done, and let it go on."""
    file, parts = _runs(work, spans), work / "kill"
    whole = _diagnosed(file, "--jobs", "2")
    with subprocess.Popen(
        _words(file, "--jobs", "2", "--work", str(parts)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as job:
        while job.poll() is None and not _half_done(parts):
            time.sleep(0.02)
        job.kill()
    done = len(list(parts.glob("*.done")))
    resumed = _diagnosed(file, "--jobs", "2", "--work", str(parts), "--resume")
    found = re.search(r"(\d+) of (\d+) parts were done", resumed.told)
    kept, total = (0, 1) if found is None else (int(found[1]), int(found[2]))
    same = "same output" if resumed.product == whole.product else "OUTPUT DIFFERS"
    twice = 100 * (done - kept + 2) / total  # and what the two processes had in hand
    yield (
        "kill -9 at half of the work, --resume: parts done twice, %",
        f"{twice:.1f}",
        "≤ 10",
        f"{kept} of {total} kept; {same}",
    )
    cpu = f"{whole.cpu:.0f} s whole, {resumed.cpu:.0f} s after the kill"
    yield "CPU of what was left, against the whole job", f"{resumed.cpu / whole.cpu:.2f}", "", cpu


def dask(work: Path, spans: int) -> Iterator[Row]:
    """Compare two Dask workers with two local ones on a scattered input."""
    count = spans * 3 // 10

    def write(aside: Path) -> None:
        write_scattered_json(aside, files=FILES, runs=count // SPANS_A_RUN, spans=SPANS_A_RUN)

    folder = _written(work / f"scattered-{count}", write)
    local, cluster = _diagnosed(folder, "--jobs", "2"), _diagnosed(folder, "--jobs", "2", "--engine", "dask")
    same = "same output" if local.product == cluster.product else "OUTPUT DIFFERS"
    measured = f"{cluster.cpu:.0f} / {local.cpu:.0f} s CPU, {cluster.peak_mb:.0f} / {local.peak_mb:.0f} MB; {same}"
    what = f"Dask against local, {count:,} spans in {FILES} files, every run scattered: CPU"
    yield what, f"{cluster.cpu / local.cpu:.2f}", "≤ 1.5", measured


def skew(work: Path, spans: int) -> Iterator[Row]:
    """Give both engines one run of half of all spans, among others."""

    def write(aside: Path) -> None:
        aside.mkdir(exist_ok=True)
        write_otlp_json(aside / "one.jsonl", runs=1, spans=spans // 2, seed=2)
        write_otlp_json(aside / "many.jsonl", runs=spans // 20 // SPANS_A_RUN, spans=SPANS_A_RUN)

    folder = _written(work / f"skewed-{spans}", write)
    local, cluster = _diagnosed(folder, "--jobs", "2"), _diagnosed(folder, "--jobs", "2", "--engine", "dask")
    same = "same output" if local.product == cluster.product else "OUTPUT DIFFERS"
    for name, took in (("local", local), ("Dask", cluster)):
        measured = f"exit code {took.code}, {took.wall:.0f} s on the clock, {took.cpu:.0f} s CPU; {same}"
        yield f"{name}, one run of {spans // 2:,} spans among others: memory, MB", f"{took.peak_mb:.0f}", "", measured


MEASURES: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "processes": processes,
    "kill": kill,
    "dask": dask,
    "skew": skew,
}


def _runs(work: Path, spans: int) -> Path:
    def write(aside: Path) -> None:
        write_otlp_json(aside, runs=spans // SPANS_A_RUN, spans=SPANS_A_RUN)

    return _written(work / f"runs-{spans}.jsonl", write)


def _written(place: Path, write: Callable[[Path], None]) -> Path:
    """Return an input, which is whole or not there."""
    if not place.exists():
        aside = place.with_name(f"{place.name}.part")
        write(aside)
        aside.rename(place)
    return place


def _half_done(parts: Path) -> bool:
    """Tell whether three eighths of the runs are done: reading, which comes first, takes a fifth of the time."""
    plan = parts / "plan.json"
    if not plan.exists() or not plan.stat().st_size:
        return False
    partitions = int(json.loads(plan.read_text())["partitions"])
    return len(list(parts.glob("reduce-*.done"))) >= partitions * 3 // 8


def _words(path: Path, *options: str) -> list[str]:
    return [str(COMMAND), "diagnose", str(path), "--format", "jsonl", "--fail-on", "never", *options]


@cache
def _diagnosed(path: Path, *options: str) -> Took:
    begun, peak, own = time.monotonic(), 0.0, 0.0
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(_words(path, *options), stdout=out, stderr=err)
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            peak = max(peak, sum(map(_resident_mb, _tree(process.pid))))
            own = max(own, _own_cpu(process.pid))
            time.sleep(EVERY)
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begun
        out.seek(0)
        err.seek(0)
        digest = hashlib.file_digest(out, "blake2b").hexdigest()
        cpu = usage.ru_utime + usage.ru_stime
        return Took(process.returncode, wall, cpu, own, peak, digest, out.tell(), err.read().decode())


def _own_cpu(number: int) -> float:
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _tree(number: int) -> list[int]:
    try:
        told = [path.read_text() for path in Path(f"/proc/{number}/task").glob("*/children")]
    except OSError:
        return []
    children = " ".join(told).split()
    return [number, *(below for child in children for below in _tree(int(child)))]


def _resident_mb(number: int) -> float:
    """Return the memory of a process, what it shares with others counted in part."""
    try:
        found = re.search(r"Pss:\s+(\d+) kB", Path(f"/proc/{number}/smaps_rollup").read_text())
    except OSError:
        return 0
    return 0 if found is None else int(found[1]) / 1024


def _missed(row: Row) -> bool:
    target = TARGET.match(row[2])
    if target is None or "DIFFERS" in row[3]:
        return "DIFFERS" in row[3]
    over = float(row[1]) > float(target[1])
    return over if row[2].startswith("≤") else float(row[1]) < float(target[1])


def _circumstances() -> str:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("critiqor-otel", "msgspec", "distributed"))
    python, system = platform.python_version(), f"{platform.system()} {platform.machine()}"
    return f"Python {python}, {packages}, {system}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} at the end"


def _document(figures: dict[str, Figures], spans: int) -> Iterator[str]:
    yield from ("# Large inputs", "", f"Written by `bench/scale.py --spans {spans}`: spans of twelve attributes and")
    yield f"300-byte arguments, {SPANS_A_RUN} a run, as JSON lines; all detectors. Memory and CPU time are those of all"
    yield from ("processes together.", "")
    for name in (name for name in MEASURES if name in figures):
        circumstances, rows = figures[name]
        yield from (f"## {name}", "", f"{circumstances}.", "", "| what | figure | target | measured |")
        yield "|---|--:|--:|---|"
        for row in rows:
            yield f"| {' | '.join(row)}{' — missed' if _missed(row) else ''} |"
        yield ""


if __name__ == "__main__":
    sys.exit(main())
