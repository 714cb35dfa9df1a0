"""The numbers of a receiver in Prometheus's text format.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from collections.abc import Iterable, Iterator, Mapping

from critiqor_otel.receiver.counts import Counts
from critiqor_otel.spool.record import Signal
from critiqor_otel.spool.tally import Tally

__all__ = ["metrics_text"]

_Sample = tuple[Mapping[str, str], float]


def metrics_text(counts: Counts, tally: Tally, journal_bytes: int) -> str:
    """Return the page."""
    lines: list[str] = []
    for name, kind, meaning, samples in _families(counts, tally, journal_bytes):
        lines += (f"# HELP critiqor_{name} {meaning}", f"# TYPE critiqor_{name} {kind}")
        lines += (f"critiqor_{name}{_labels(labels)} {value:g}" for labels, value in samples)
    return "\n".join(lines) + "\n"


def _families(counts: Counts, tally: Tally, journal_bytes: int) -> Iterator[tuple[str, str, str, Iterable[_Sample]]]:
    yield "requests_total", "counter", "Requests acknowledged.", _by_transport_and_signal(counts)
    yield "items_received_total", "counter", "Spans, log records and metrics acknowledged.", _by_signal(counts.received)
    yield "items_rejected_total", "counter", "Items refused in partial successes.", _by_signal(counts.rejected)
    yield "requests_refused_total", "counter", "Requests refused as a whole.", _refusals(counts)
    for name, meaning, value in (
        ("received_bytes_total", "Bytes of requests, inflated.", counts.received_bytes),
        ("acknowledgement_seconds_total", "Time from whole request to acknowledgement.", counts.acknowledged_ns / 1e9),
        ("duplicate_spans_total", "Deliveries of spans beyond the first.", tally.duplicates),
        ("annotation_spans_total", "Spans that tell verdicts of ours, and are no evidence.", tally.annotations),
        ("late_logs_total", "Log records whose session was sealed.", tally.late_logs),
        ("unplaced_logs_total", "Log records that name no span and no session.", tally.unplaced_logs),
        ("sealed_spans_total", "Spans in sealed sessions.", tally.sealed_spans),
        ("journal_damaged_total", "Places in the journal whose bytes changed.", tally.damaged),
        ("journal_torn_total", "Segments cut short by a crash.", tally.torn),
        ("kept_aside_total", "Pieces kept raw since no session could be made of them.", tally.kept_aside),
    ):
        yield name, "counter", meaning, [({}, value)]
    sealed = sorted(tally.sealed.items())
    yield "sessions_sealed_total", "counter", "Sessions sealed.", [({"reason": word}, n) for word, n in sealed]
    for name, meaning, value in (
        ("open_sessions", "Sessions open now.", tally.open_sessions),
        ("failing_sessions", "Sessions that cannot be written at present.", tally.failing),
        ("decoded_bytes", "Bytes of requests held decoded.", tally.decoded_bytes),
        ("journal_bytes", "Bytes of the journal.", journal_bytes),
        ("lag_bytes", "Bytes of the journal not looked at yet.", tally.lag_bytes),
        ("lag_seconds", "How long the record read last had waited.", tally.lag_ns / 1e9),
    ):
        yield name, "gauge", meaning, [({}, value)]


def _by_transport_and_signal(counts: Counts) -> list[_Sample]:
    return [
        ({"transport": transport.name.lower(), "signal": signal.name.lower()}, number)
        for (transport, signal), number in sorted(counts.requests.items())
    ]


def _by_signal(counted: Mapping[Signal, int]) -> list[_Sample]:
    return [({"signal": signal.name.lower()}, number) for signal, number in sorted(counted.items())]


def _refusals(counts: Counts) -> list[_Sample]:
    return [
        ({"transport": transport.name.lower(), "reason": fault.value}, number)
        for (transport, fault), number in sorted(counts.refusals.items())
    ]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"
