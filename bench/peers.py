"""How long other analyzers of agent traces take on the same file, each installed from the registry on its own.

CPU time and the clock on the wall of the whole command, start-up included; each command as its user types it, so ours
uses all cores where the file is large. Usage: `python bench/peers.py FOLDER [--only SHAPE …] [--quick]`; the folder
keeps the environments and the inputs for the next time.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median_low
from typing import NamedTuple

from environments import installed, version_of

__all__ = ["main"]

RESULTS = Path(__file__).with_name("peers.md")
PATIENCE = 120  # seconds of CPU until a command is given up
EPOCH_NS = 1_780_000_000_000_000_000
TOOLS = ("search_docs", "get_price", "read_file", "write_file", "run_tests")
ERRORS = 0.05  # of the tool calls
OURS = "critiqor-otel"


class Peer(NamedTuple):
    """How an analyzer is installed and asked."""

    package: str
    options: tuple[str, ...]
    """Of the installer."""
    words: tuple[str, ...]
    """The command, {file} and {folder} being the input."""
    judges: bool
    """Whether it says of each run whether something went wrong."""
    does: str
    """What it makes of these files."""


PEERS = (
    Peer(
        "agent-detective",
        ("--ignore-requires-python",),
        ("detective", "analyze", "{file}", "--exit-zero"),
        judges=True,
        does="a verdict a run: failed, by its error spans, or not verified",
    ),
    Peer(
        "ghostspan",
        (),
        ("ghostspan", "--no-file", "{file}"),
        judges=True,
        does="counts of swallowed errors, retries and cost outliers over all runs, with examples",
    ),
    Peer(
        "spanhound",
        (),
        ("spanhound", "--check", "--trace-dir", "{folder}"),
        judges=False,
        does="a list of the runs with their spans and tokens, no verdict",
    ),
    Peer(
        "agentevals-cli",
        (),
        ("agentevals", "run", "-f", "otlp-json", "-o", "summary", "{file}"),
        judges=False,
        does="`NOT_EVALUATED` for each run: it compares with expected calls, and there are none",
    ),
)


class Shape(NamedTuple):
    """An input, and what is asked of it."""

    traces: int
    spans: int
    """Of each trace."""
    target: int
    """How many times the throughput of the best peer."""
    rounds: int


SHAPES = {
    "500 traces": Shape(500, 21, 5, 3),
    "one trace": Shape(1, 100_001, 6, 1),
    "5,000 traces": Shape(5_000, 21, 6, 1),
}


class Took(NamedTuple):
    """What a command took, in seconds."""

    cpu: float
    clock: float
    ended: bool
    """By itself, and without an error."""

    def cell(self) -> str:
        """Return a cell of the table."""
        ending = "" if self.ended else "given up after " if self.is_given_up else "failed after "
        return f"{ending}{self.cpu:.1f} / {self.clock:.1f}"

    @property
    def is_given_up(self) -> bool:
        """Whether its time was over; the system counts a little less than it allowed."""
        return not self.ended and self.cpu > 0.9 * PATIENCE


def main() -> int:
    """Install, measure, print and write the table; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--only", nargs="*", choices=list(SHAPES), default=list(SHAPES))
    options.add_argument("--quick", action="store_true", help="a tenth of the spans: shows that it runs")
    given = options.parse_args()
    folder = given.folder.absolute()  # commands run in the folder of their input
    commands = {
        OURS: _own_command(),
        **{peer.package: installed(peer.package, folder, peer.words, peer.options) for peer in PEERS},
    }
    rows: list[tuple[str, ...]] = []
    for name in given.only:
        rows.append(_row(name, commands, folder, 10 if given.quick else 1))
        print(" | ".join(rows[-1]), flush=True)
    if not given.quick:
        RESULTS.write_text("\n".join(_document(rows, folder)))
    return int(not given.quick and any("missed" in cell for row in rows for cell in row))


def write_traces(path: Path, *, traces: int, spans: int, seed: int = 1) -> None:
    """Write one OTLP/JSON document whose spans speak OpenInference and the GenAI conventions at once."""
    made = [span for number in range(traces) for span in _trace(random.Random(f"{seed}/{number}"), spans)]
    service = {"key": "service.name", "value": {"stringValue": "support-agent"}}
    scope = {"scope": {"name": "openinference.instrumentation.bench", "version": "1"}, "spans": made}
    path.write_text(json.dumps({"resourceSpans": [{"resource": {"attributes": [service]}, "scopeSpans": [scope]}]}))


def _trace(chance: random.Random, spans: int) -> Iterator[dict[str, object]]:
    trace_id, root = f"{chance.getrandbits(128):032x}", f"{chance.getrandbits(64):016x}"
    now = EPOCH_NS
    yield _span(trace_id, root, None, "agent support", (now, now + spans * 10**8), _agent(trace_id))
    for number in range(spans - 1):
        held = _tool(chance, number) if number % 2 else _chat(chance)
        span = _span(trace_id, f"{chance.getrandbits(64):016x}", root, str(held["name"]), (now, now + 10**8 - 1), held)
        yield _failed(span) if number % 2 and chance.random() < ERRORS else span
        now += 10**8


def _span(
    trace_id: str, span_id: str, parent: str | None, name: str, times: tuple[int, int], held: dict[str, object]
) -> dict[str, object]:
    return {
        "traceId": trace_id,
        "spanId": span_id,
        **({} if parent is None else {"parentSpanId": parent}),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(times[1]),
        "attributes": [{"key": key, "value": _value(value)} for key, value in held.items() if key != "name"],
        "status": {"code": 1},
    }


def _failed(span: dict[str, object]) -> dict[str, object]:
    told = {"exception.type": "TimeoutError", "exception.message": "timed out"}
    attributes = [{"key": key, "value": _value(value)} for key, value in told.items()]
    event = {"name": "exception", "timeUnixNano": span["endTimeUnixNano"], "attributes": attributes}
    return {**span, "status": {"code": 2, "message": "timed out"}, "events": [event]}


def _value(value: object) -> dict[str, object]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}


def _agent(trace_id: str) -> dict[str, object]:
    return {
        "openinference.span.kind": "AGENT",
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "support",
        "agent.name": "support",
        "session.id": f"conv-{trace_id[:12]}",
        "input.value": "Where is my order?",
        "output.value": "It is on its way.",
    }


def _chat(chance: random.Random) -> dict[str, object]:
    return {
        "name": "chat gpt-4o-mini",
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o-mini",
        "llm.model_name": "gpt-4o-mini",
        "llm.token_count.prompt": (prompt := chance.randrange(100, 4000)),
        "llm.token_count.completion": (completion := chance.randrange(10, 400)),
        "gen_ai.usage.input_tokens": prompt,
        "gen_ai.usage.output_tokens": completion,
        "output.value": "x" * 200,
    }


def _tool(chance: random.Random, number: int) -> dict[str, object]:
    tool = chance.choice(TOOLS)
    arguments = json.dumps({"query": f"{chance.getrandbits(40):x}", "note": "x" * 260})
    return {
        "name": f"execute_tool {tool}",
        "openinference.span.kind": "TOOL",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "tool.name": tool,
        "gen_ai.tool.call.id": f"call_{number}",
        "input.value": arguments,
        "gen_ai.tool.call.arguments": arguments,
        "output.value": json.dumps({"found": chance.randrange(10**6)}),
    }


def _row(name: str, commands: dict[str, list[str]], folder: Path, scale: int) -> tuple[str, ...]:
    shape = SHAPES[name]
    traces, spans = (shape.traces // scale, shape.spans) if shape.traces > 1 else (1, shape.spans // scale)
    file = folder / f"{traces}x{spans}" / "traces.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_traces(file.with_suffix(".part"), traces=traces, spans=spans)
        file.with_suffix(".part").rename(file)
    found = {peer: _median(words, file, shape.rounds) for peer, words in commands.items()}
    judges = [peer.package for peer in PEERS if peer.judges]
    ratios = (_ratio(found, judges, shape.target), _ratio(found, list(found)[1:], shape.target))
    return (f"{traces * spans:,} in {name}", *(took.cell() for took in found.values()), *ratios)


def _ratio(found: dict[str, Took], peers: Sequence[str], target: int) -> str:
    """Compare ours with the fastest of some peers; one that was given up counts with what it had taken by then."""
    own = found[OURS]
    if not own.ended:
        return "missed: ours failed"
    others = [found[peer] for peer in peers if found[peer].ended or found[peer].is_given_up]
    clock, cpu = min(one.clock for one in others) / own.clock, min(one.cpu for one in others) / own.cpu
    return f"{cpu:.1f} / {clock:.1f} (≥ {target}){'' if clock >= target else ' missed'}"


def _median(words: list[str], file: Path, rounds: int) -> Took:
    return median_low(_measured(words, file) for _ in range(rounds))


def _measured(words: list[str], file: Path) -> Took:
    """Run a command in the folder of its input."""
    command = [word.format(file=file, folder=file.parent) for word in words]
    limited = ["sh", "-c", f'ulimit -t {PATIENCE}; exec "$@"', "sh", *command]
    begun = time.monotonic()
    process = subprocess.Popen(limited, cwd=file.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    clock = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    return Took(usage.ru_utime + usage.ru_stime, clock, process.returncode in {0, 1})


def _own_command() -> list[str]:
    return [str(Path(sys.executable).with_name(OURS)), "diagnose", "--quiet", "{file}"]


def _document(rows: list[tuple[str, ...]], folder: Path) -> Iterator[str]:
    yield from ("# Other analyzers on the same file", "")
    yield "Written by `bench/peers.py`: seconds of CPU / seconds on the clock of each command as its user types it,"
    yield f"start-up included, and how many times faster ours is. After {PATIENCE} s of CPU a command is given up; the"
    yield "ratio is then at least what stands there. A target is held against the clock: it is the throughput."
    yield ""
    yield f"Python {platform.python_version()}, {OURS} {metadata.version(OURS)}, {platform.system()}"
    yield f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f} while it ran. Spans of 7 to 9"
    yield "attributes that speak OpenInference and OTel GenAI at once, 300-byte arguments,"
    yield f"{ERRORS:.0%} of the tool calls failed."
    names = [OURS, *(peer.package for peer in PEERS)]
    yield from ("", f"| spans | {' | '.join(names)} | against the best that judges | against the best of all |")
    yield "|---|" + "--:|" * (len(names) + 2)
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield from ("", "| analyzer | version | what it makes of the file |", "|---|---|---|")
    yield f"| {OURS} | {metadata.version(OURS)} | a verdict a run by all detectors, with cause, evidence and scores |"
    for peer in PEERS:
        yield f"| {peer.package} | {version_of(peer.package, folder)} | {peer.does} |"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
