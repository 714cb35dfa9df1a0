"""What agents send, through the Collector that we ship a configuration for, to everywhere at once."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from command import CAPTURES
from real_programs import CONFIG, INTEROP, Collector, Jaeger, Serving

from analyzer.session.codec import write_session
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.span import LogRecord, Span

__all__ = ["EVER", "FORMS", "Held", "Sent", "all_captures", "fan_out", "post", "sealed"]

FORMS = ("json", "proto", "zstd", "zstd_proto", "rotated", "rotated_zstd")
"""How the file exporter writes, by the folder it writes to (`more-files.yaml`)."""

EVER = "start=1970-01-01T00:00:00Z&end=2262-04-11T23:47:16.854775Z"
"""All that fits into the nanoseconds of 64 bits."""

_SIGNALS = {"resourceSpans": "traces", "resourceLogs": "logs"}

Sessions = dict[str, bytes]
"""Session files by run id."""


class Held:
    """What spans and records some inputs hold, and the sessions they make."""

    def __init__(self, *paths: str | Path) -> None:
        """Read files, folders or back ends."""
        evidence = gather(read_paths([str(path) for path in paths]))
        self.spans: list[Span] = evidence.spans
        self.logs: list[LogRecord] = evidence.logs
        self.sessions = {
            session.run_id: write_session(session) for session in runs_of(evidence, keep_silent=True).sessions
        }


class Sent:
    """Where everything went."""

    def __init__(self, folder: Path, jaeger: Jaeger) -> None:
        """Take the folder that files and runs lie in, and the Jaeger."""
        self.runs = folder / "runs"
        self.traces = folder / "traces"
        self.jaeger = f"{jaeger.address}?{EVER}"


def all_captures() -> list[Path]:
    """Return the captures of all families."""
    return sorted(CAPTURES.glob("*/*.otlp.jsonl"))


def fan_out(folder: Path, jaeger: Jaeger, collector: Path, requests: Sequence[bytes]) -> Sent:
    """Send OTLP/JSON as it is, and let an agent with the stock SDK send for itself; return when all has arrived."""
    sent = Sent(folder, jaeger)
    server = Serving(sent.runs)
    environment = {
        "JAEGER_OTLP_ENDPOINT": f"127.0.0.1:{jaeger.otlp}",
        "CRITIQOR_OTLP_ENDPOINT": server.otlp,
        "CRITIQOR_TRACES": str(sent.traces),
    }
    program = Collector(collector, CONFIG, INTEROP / "more-files.yaml", environment=environment)
    for request in requests:
        document = json.loads(request)
        signal = next(name for key, name in _SIGNALS.items() if key in document)
        post(f"{program.endpoint}/v1/{signal}", request)
    variables = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": program.endpoint, "OTEL_SERVICE_NAME": "sdk-agent"}
    subprocess.run([sys.executable, "-m", "critiqor_otel.cli.demo_agent"], env=variables, check=True, timeout=60)
    assert program.stop() == 0, "".join(program.lines[-20:])  # it ends when all it took is delivered
    server.settle()
    return sent


def post(url: str, body: bytes, kind: str = "application/json") -> None:
    """Send a request, which must be taken."""
    with urlopen(Request(url, body, {"content-type": kind}), timeout=30) as answer:  # noqa: S310  # our own Collector
        assert answer.status == 200
        answer.read()


def sealed(runs: Path) -> Sessions:
    """Return the session files of a receiver, by run id."""
    found: Sessions = {}
    for file in sorted(runs.glob("*/session.json")):
        content = file.read_bytes()
        head: dict[str, Any] = json.loads(content)
        found[head["run_id"]] = content
    return found
