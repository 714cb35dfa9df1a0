"""Requests as a sender would write them, and a spool with a told clock."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.journal import Journal, JournalLimits
from critiqor_otel.spool.journal_reader import JournalReader, Stored
from critiqor_otel.spool.open_sessions import Patience
from critiqor_otel.spool.owner import Owner, OwnerSettings
from critiqor_otel.spool.record import Encoding, Record, Signal, Transport
from critiqor_otel.spool.sealed_index import spans_of
from critiqor_otel.spool.segments import segments
from critiqor_otel.spool.sink import SealedRun
from critiqor_otel.spool.spool_folder import SpoolFolder

SECOND = 1_000_000_000
START = 1_760_000_000 * SECOND

__all__ = ["SECOND", "START", "Spool", "log_request", "read_all", "record", "trace_request", "written"]


def trace_request(
    *numbers: int, trace: int = 1, root: bool = False, agent: bool = False, service: str = "agent", **attributes: str
) -> bytes:
    """Return a request of spans 1, 2, …; with `root` the first has no parent, with `agent` it is an agent's run."""
    request = ExportTraceServiceRequest()
    block = request.resource_spans.add()
    block.resource.attributes.add(key="service.name").value.string_value = service
    scope = block.scope_spans.add()
    for place, number in enumerate(numbers):
        span = scope.spans.add(
            trace_id=trace.to_bytes(16, "big"),
            span_id=number.to_bytes(8, "big"),
            parent_span_id=b"" if root and place == 0 else (1).to_bytes(8, "big"),
            name=f"step {number}",
            start_time_unix_nano=START + number,
            end_time_unix_nano=START + number + 1,
        )
        operation = "invoke_agent" if agent and place == 0 else "execute_tool"
        named = {
            "gen_ai.operation.name": operation,
            **{key.replace("__", "."): text for key, text in attributes.items()},
        }
        for key, text in named.items():
            span.attributes.add(key=key).value.string_value = text
    return request.SerializeToString()


def log_request(*numbers: int, trace: int = 1) -> bytes:
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for number in numbers:
        scope.log_records.add(
            trace_id=trace.to_bytes(16, "big"), span_id=number.to_bytes(8, "big"), event_name="gen_ai.choice"
        )
    return request.SerializeToString()


def record(payload: bytes, **fields: Any) -> Record:
    given = {
        "signal": Signal.TRACES,
        "encoding": Encoding.PROTOBUF,
        "transport": Transport.HTTP,
        "received_ns": START,
        **fields,
    }
    return Record(payload=payload, **given)


def written(folder: Path, records: Iterable[Record], limits: JournalLimits) -> None:
    """Write the records into a journal of their own, one after another."""
    journal = Journal(folder, limits=limits)
    for one in records:
        journal.write(one)
    journal.close()


def read_all(folder: Path) -> list[Stored]:
    """Return the records of a journal that is whole."""
    found = list(JournalReader(folder, finished=max(segments(folder), default=0)).read())
    assert all(isinstance(one, Stored) for one in found)
    return [one for one in found if isinstance(one, Stored)]


class Spool:
    """A journal and its owner under one folder; the time is what the test says."""

    def __init__(self, runs: Path, patience: Patience) -> None:
        self.folder = SpoolFolder(runs)
        self.now_ns = START
        self.told: list[tuple[str, dict[str, object]]] = []
        self.sealed: list[SealedRun] = []
        self.patience = patience
        self.limits = JournalLimits(segment=2000)
        self.start()

    def start(self) -> None:
        self.folder.make()
        self.owner = Owner(
            self.folder,
            OwnerSettings(patience=self.patience),
            started_ns=self.now_ns,
            finished=max(segments(self.folder.journal), default=0),
            tell=lambda word, facts: self.told.append((word, facts)),
            sealed=self.sealed.append,
        )
        self.journal = Journal(self.folder.journal, limits=self.limits)

    def crash(self) -> None:
        """Forget all that is in memory."""
        self.journal.close()
        self.owner.close(journal_is_closed=False)

    def restart(self) -> None:
        self.crash()
        self.start()

    def send(self, payload: bytes, **fields: Any) -> None:
        self.journal.write(record(payload, received_ns=self.now_ns, **fields))

    def wait(self, seconds: float) -> None:
        self.now_ns += int(seconds * SECOND)
        self.step()

    def step(self) -> None:
        while self.owner.step(self.now_ns):
            pass

    def shut_down(self) -> None:
        self.journal.close()
        self.owner.flush(self.now_ns, reason=CloseReason.SHUTDOWN)
        self.owner.close(journal_is_closed=True)

    def sessions(self) -> dict[str, Session]:
        files = sorted(self.folder.runs.glob("*/session.json"))
        return {file.parent.name: read_session(file.read_bytes()) for file in files}

    def addresses(self) -> Counter[tuple[str, str]]:
        """Return how many sessions each span is in."""
        return Counter(
            (trace_id, span_id)
            for session in self.sessions().values()
            for trace_id, span_ids in spans_of(session).items()
            for span_id in span_ids
        )

    def segments(self) -> list[Path]:
        return sorted(self.folder.journal.iterdir())
