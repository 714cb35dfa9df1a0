"""A receiver that is killed and started again while a Collector sends to it, and the account of every span.

`python tests/support/restarting.py SPANS KILLS FOLDER` is the long form.
"""

import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from fanned_out import post
from interop_programs import binary_of
from real_programs import CONFIG, INTEROP, Collector, Serving, free_ports
from spool_support import trace_request

from analyzer.session.codec import read_session
from critiqor_otel.spool.sealed_index import spans_of

__all__ = ["Account", "killed_while_sending"]

_PER_TRACE, _PER_REQUEST = 200, 100
_SENT = re.compile(
    r'^otelcol_exporter_sent_spans(?:_total|__spans__total)?\{[^}]*exporter="otlp/critiqor"[^}]*\} (\S+)$', re.MULTILINE
)
_QUICK = ("--idle", "1", "--after-root", "0.5")
_PATIENCE = 600.0  # seconds


class Account(NamedTuple):
    """What came of all the kills."""

    sent: frozenset[tuple[str, str]]
    sealed: Counter[tuple[str, str]]
    """How many session files each span is in."""

    @property
    def missing(self) -> set[tuple[str, str]]:
        return set(self.sent - self.sealed.keys())

    @property
    def doubled(self) -> set[tuple[str, str]]:
        return {address for address, times in self.sealed.items() if times > 1}

    @property
    def unknown(self) -> set[tuple[str, str]]:
        return set(self.sealed.keys() - self.sent)


def killed_while_sending(collector_binary: Path, folder: Path, *, spans: int, kills: int, seed: int = 7) -> Account:
    """Send so many spans through the Collector, kill the receiver so often meanwhile, and settle the account."""
    (metrics,) = free_ports(1)
    server = Serving(folder, *_QUICK)
    environment = {"CRITIQOR_OTLP_ENDPOINT": server.otlp, "COLLECTOR_METRICS_PORT": str(metrics)}
    collector = Collector(collector_binary, CONFIG, INTEROP / "counting.yaml", environment=environment)
    sender = threading.Thread(target=_send, args=(collector.endpoint, spans))
    sender.start()
    noise, pause = random.Random(seed), threading.Event()  # told noise, no secret
    for kill in range(1, kills + 1):
        _until(metrics, spans * kill // (kills + 2))
        pause.wait(noise.uniform(0.0, 0.05))
        server.kill()
        pause.wait(noise.uniform(0.0, 1.0))  # nobody listens: requests pile up in the Collector
        server = Serving(folder, *_QUICK, ports=server.ports)
    sender.join()
    _until(metrics, spans)
    assert collector.stop() == 0, "".join(collector.lines[-20:])
    server.settle()
    return Account(frozenset(_addresses(spans)), _sealed(folder))


def _send(endpoint: str, spans: int) -> None:
    for trace in range(1, spans // _PER_TRACE + 1):
        for first in range(1, _PER_TRACE + 1, _PER_REQUEST):
            numbers = range(first, first + _PER_REQUEST)
            body = trace_request(*numbers, trace=trace, root=first == 1, agent=first == 1)
            post(f"{endpoint}/v1/traces", body, "application/x-protobuf")


def _addresses(spans: int) -> Iterator[tuple[str, str]]:
    for trace in range(1, spans // _PER_TRACE + 1):
        for number in range(1, _PER_TRACE + 1):
            yield f"{trace:032x}", f"{number:016x}"


def _until(metrics: int, spans: int) -> None:
    """Wait until the Collector has delivered so many spans."""
    pause, waited = threading.Event(), 0.0
    while _delivered(metrics) < spans:
        pause.wait(0.05)
        waited += 0.05
        if waited > _PATIENCE:
            raise TimeoutError(f"{_delivered(metrics)} of {spans} spans were delivered")


def _delivered(metrics: int) -> float:
    with urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return sum(float(number) for number in _SENT.findall(text))


def _sealed(folder: Path) -> Counter[tuple[str, str]]:
    counted: Counter[tuple[str, str]] = Counter()
    for file in folder.glob("*/session.json"):
        for trace_id, span_ids in spans_of(read_session(file.read_bytes())).items():
            counted.update((trace_id, span_id) for span_id in span_ids)
    return counted


def main() -> int:
    """Kill as often as asked, and print the account."""
    spans, kills, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    account = killed_while_sending(binary_of("collector"), folder, spans=spans, kills=kills)
    counts = {name: len(getattr(account, name)) for name in ("sent", "sealed", "missing", "doubled", "unknown")}
    print(f"{kills} kills of the receiver behind a Collector: {counts}")  # noqa: T201  # the script's own words
    return 1 if account.missing or account.doubled or account.unknown else 0


if __name__ == "__main__":
    sys.exit(main())
