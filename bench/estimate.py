"""What a billion spans a day cost: the tables of docs/scale.md, written anew from what bench/scale.md measured.

Usage: `python bench/estimate.py`, after `python bench/scale.py`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["estimate", "main"]

MEASURED = Path(__file__).with_name("scale.md")
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- written by bench/estimate.py from bench/scale.md -->", "<!-- end of what is written -->"

SPANS = 1_000_000_000
CORE_HOUR = 0.05  # USD, of the order of list prices
GB_MONTH = 0.023  # USD, object storage
OBJECTS = 0.10  # USD, 12,000 writes at 0.005 a thousand, and those of the tables
COLLECTOR_CORES = 8
ZSTD = 12  # times smaller
PACKED_SHARE = 0.53  # of the JSON, in the work folder
TRACE_BYTES = 350  # of the join task, a trace
SPANS_A_TRACE = 50


def main() -> int:
    """Rewrite the tables; 1 when something that they need was not measured."""
    try:
        told = "\n".join(estimate(MEASURED.read_text()))
    except (OSError, LookupError) as error:
        print(f"bench/scale.md lacks what the estimate needs: {error}", file=sys.stderr)
        return 1
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{told}\n\n{END}{rest.partition(END)[2]}")
    return 0


def estimate(measured: str) -> Iterator[str]:
    """Yield the lines of the two tables.

    Raises:
        LookupError: a figure is missing; it is named.
    """
    micros = float(_figure(measured, r"CPU a span[^|]*\| ([\d.]+)"))
    arriving = float(_figure(measured, r"([\d.]+) bytes of JSON a span come in"))
    verdict = float(_figure(measured, r"verdicts as JSON lines, bytes a span \| ([\d.]+)"))
    small = _figure(measured, r"memory of all processes, ([\d,]+) spans")
    peak = _figure(measured, r"memory of all processes, [^|]*\| ([\d.]+)")
    hours = micros * SPANS / 1e6 / 3600
    kept = arriving * SPANS / ZSTD / 1e9
    packed = arriving * PACKED_SHARE
    yield from ("| measured | a span | a billion spans |", "|---|--:|--:|")
    yield f"| CPU, JSON lines to verdicts, all detectors | {micros:.0f} µs | {hours:.0f} core hours |"
    come = f"{arriving / 1e3:.1f} TB (about {kept / 1e3:.1f} TB as zstd)"
    yield f"| JSON as it arrives | {arriving / 1e3:.1f} kB | {come} |"
    yield f"| memory of all processes, two jobs | {peak} MB for {small} spans | |"
    yield f"| packed spans in the work folder | {packed / 1e3:.2f} kB | {packed / 1e3:.2f} TB, while a job runs |"
    yield f"| verdicts as JSON lines, most of it the causal graph | {verdict / 1e3:.1f} kB | {verdict / 1e3:.1f} TB |"
    whole = TRACE_BYTES * SPANS / SPANS_A_TRACE
    part = f"{whole / 1e9:.0f} GB in one job, {whole / 32 / 24 / 1e6:.0f} MB in each of 768"
    yield f"| the join task | {TRACE_BYTES / 1e3:.2f} kB a trace | {part} |"
    yield ""
    costs = {
        f"{hours:.0f} core hours": hours * CORE_HOUR,
        f"{kept / 1e3:.1f} TB of traces, kept for 30 days": kept * GB_MONTH,
        f"work folder, {packed / 1e3:.2f} TB for an hour, on the workers' own disks": 0.0,
        "about 12,000 objects of 100 MB and their tables": OBJECTS,
        "Collectors: 11,600 spans a second on average, four times that at peak, 8 cores all day": (
            COLLECTOR_CORES * 24 * CORE_HOUR
        ),
    }
    yield from ("| cost a day | USD |", "|---|--:|")
    yield from (f"| {what} | {price:.2f} |" for what, price in costs.items())
    yield f"| **together** | **about {sum(costs.values()):.0f}** |"


def _figure(measured: str, wanted: str) -> str:
    found = re.search(wanted, measured)
    if found is None:
        raise LookupError(wanted)
    return found[1]


if __name__ == "__main__":
    sys.exit(main())
