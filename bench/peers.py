"""How long other analyzers of agent traces take on the same file, each installed from the registry on its own.

CPU time of the whole command, start-up included. Usage: `python bench/peers.py FOLDER [--quick]`; the folder keeps the
environments for the next time.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["main"]

RESULTS = Path(__file__).with_name("peers.md")
PATIENCE = 240  # seconds of CPU until a command is given up
EPOCH_NS = 1_780_000_000_000_000_000
TOOLS = ("search_docs", "get_price", "read_file", "write_file", "run_tests")


class Peer(NamedTuple):
    """How an analyzer is installed and asked."""

    package: str
    options: tuple[str, ...]
    """Of the installer."""
    words: tuple[str, ...]
    """The command, {file} and {folder} being the input."""


PEERS = (
    Peer("agent-detective", ("--ignore-requires-python",), ("detective", "analyze", "{file}", "--exit-zero")),
    Peer("ghostspan", (), ("ghostspan", "--no-file", "{file}")),
    Peer("spanhound", (), ("spanhound", "--check", "--trace-dir", "{folder}")),
    Peer("agentevals-cli", (), ("agentevals", "run", "-f", "otlp-json", "-o", "summary", "{file}")),
)
SHAPES = {"500 traces": (500, 21), "one trace": (1, 100_001), "5,000 traces": (5_000, 21)}
TARGETS = {"500 traces": 5, "one trace": 6, "5,000 traces": 6}


def main() -> int:
    """Install, measure, print and write the table; 1 when a target is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--quick", action="store_true", help="a tenth of the spans: shows that it runs")
    given = options.parse_args()
    commands = {"critiqor-otel": _own_command(), **{peer.package: _installed(peer, given.folder) for peer in PEERS}}
    rows = list(_rows(commands, given.folder, 10 if given.quick else 1))
    for row in rows:
        print(" | ".join(row))
    if not given.quick:
        RESULTS.write_text("\n".join(_document(rows, given.folder)))
    return int(not given.quick and any(row[-1].endswith("missed") for row in rows))


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
        yield _span(trace_id, f"{chance.getrandbits(64):016x}", root, str(held["name"]), (now, now + 10**8 - 1), held)
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


def _rows(commands: dict[str, list[str]], folder: Path, scale: int) -> Iterator[tuple[str, ...]]:
    for shape, (traces, spans) in SHAPES.items():
        place = folder / shape.replace(" ", "-").replace(",", "")
        place.mkdir(parents=True, exist_ok=True)
        many = traces > 1
        write_traces(
            place / "traces.json", traces=traces // scale if many else 1, spans=spans if many else spans // scale
        )
        found = {name: _measured(words, place / "traces.json") for name, words in commands.items()}
        others = [seconds for name, (seconds, ended) in found.items() if name != "critiqor-otel" and ended]
        own = found["critiqor-otel"][0]
        ratio = min(others, default=PATIENCE) / own
        verdict = "" if ratio >= TARGETS[shape] else " missed"
        yield (shape, *map(_told, found.values()), f"{ratio:.1f} (≥ {TARGETS[shape]}){verdict}")


def _told(found: tuple[float, bool]) -> str:
    return f"{found[0]:.1f} s" if found[1] else f"failed after {found[0]:.0f} s"


def _measured(words: list[str], file: Path) -> tuple[float, bool]:
    """Return the CPU seconds of a command, and whether it came to an end by itself."""
    command = [word.format(file=file, folder=file.parent) for word in words]
    limited = ["sh", "-c", f'ulimit -t {PATIENCE}; exec "$@"', "sh", *command]
    process = subprocess.Popen(limited, cwd=file.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode in {0, 1}


def _own_command() -> list[str]:
    return [str(Path(sys.executable).with_name("critiqor-otel")), "diagnose", "--quiet", "--jobs", "1", "{file}"]


def _installed(peer: Peer, folder: Path) -> list[str]:
    place = folder / peer.package
    if not (place / "bin" / peer.words[0]).exists():
        venv.create(place, with_pip=True)
        install = [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *peer.options]
        subprocess.run([*install, peer.package], check=True)
    return [str(place / "bin" / peer.words[0]), *peer.words[1:]]


def _document(rows: list[tuple[str, ...]], folder: Path) -> Iterator[str]:
    names = ["critiqor-otel", *(peer.package for peer in PEERS)]
    yield from (
        "# Other analyzers on the same file",
        "",
        "Written by `bench/peers.py`: CPU time, start-up included.",
        "",
    )
    yield f"Python {platform.python_version()}, {platform.system()} {platform.machine()}. " + ", ".join(
        _versions(folder)
    )
    yield ""
    yield f"| spans | {' | '.join(names)} | best of the others against ours |"
    yield "|---|" + "---|" * (len(names) + 1)
    for shape, *cells in rows:
        traces, spans = SHAPES[shape]
        yield f"| {traces * spans:,} in {shape} | {' | '.join(cells)} |"
    yield ""


def _versions(folder: Path) -> Iterator[str]:
    for peer in PEERS:
        words = [folder / peer.package / "bin" / "pip", "show", peer.package]
        told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        yield f"{peer.package} {told.partition('Version: ')[2].partition(chr(10))[0]}"


if __name__ == "__main__":
    sys.exit(main())
