"""One session that is still open: the traces that wait for their last spans together, and until when they do."""

import msgspec

from critiqor_otel.span import LogRecord, Span
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.run_keys import Key, is_whole_agent, service_key
from critiqor_otel.spool.segments import Position

__all__ = ["NO_SERVICE", "OpenSession", "Patience", "Piece"]

NO_SERVICE: Key = ("service", "")
"""Of what does not say where it comes from."""

_SECOND = 1_000_000_000


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a session may stay open, and how large it may get."""

    after_root_ns: int = 10 * _SECOND
    """Quiet time after which a session whose root span has ended is closed."""
    idle_ns: int = 60 * _SECOND
    """Quiet time after which any session is closed."""
    longest_ns: int = 3600 * _SECOND
    most_spans: int = 100_000
    """Spans and log records of one session, repeats counted."""
    decoded_bytes: int = 48 << 20
    """Bytes of requests whose spans may be kept decoded; a decoded span takes three to five times its bytes."""


class Piece(msgspec.Struct):
    """What one record of the journal holds of one trace."""

    trace_id: str
    position: Position
    size: int
    """The share of the record's bytes."""
    spans: list[Span] | None
    """None when they were forgotten: they are read from the journal again."""
    logs: list[LogRecord] | None
    count: int
    """Spans and logs, also when they were forgotten."""
    late: bool = False
    """Whether some of the trace is sealed already, so that its run is known."""


class OpenSession:
    """Traces that wait for their last spans together."""

    __slots__ = (
        "count",
        "first_ns",
        "keys",
        "last_ns",
        "looked_at",
        "names",
        "owned",
        "pieces",
        "root_ended",
        "service",
        "size",
        "traces",
        "transport",
        "waits_for_others",
    )

    def __init__(self, now_ns: int, transport: str) -> None:
        """Begin with nothing."""
        self.traces: dict[str, None] = {}
        self.keys: dict[Key, None] = {}
        self.names: dict[tuple[str, ...], None] = {}
        """Words on its spans that have led to keys."""
        self.pieces: list[Piece] = []
        self.looked_at = 0
        """Pieces in which no agent was found."""
        self.first_ns = self.last_ns = now_ns
        self.root_ended = False
        self.owned = False
        """An agent speaks in it, or its run is known."""
        self.service: Key | None = None
        self.waits_for_others = False
        """Its traces have nothing in common but their service: the end of one root says nothing."""
        self.count = 0
        self.size = 0
        """Bytes of what is kept decoded."""
        self.transport = transport

    def is_placed(self) -> bool:
        """Tell whether it is known what it belongs to; else it waits with the others of its service."""
        if not self.owned and not self.keys:
            self._look_for_agent()
        return self.owned or bool(self.keys)

    def take(self, piece: Piece, now_ns: int) -> None:
        """Add what one record holds for it."""
        self.pieces.append(piece)
        self.count += piece.count
        self.size += piece.size
        self.last_ns = max(self.last_ns, now_ns)
        self.owned = self.owned or piece.late
        if not self.root_ended:
            self.root_ended = any(span.parent_span_id is None and span.end_ns > 0 for span in piece.spans or ())
        if self.service is None:
            self.service = next(map(service_key, (*(piece.spans or ()), *(piece.logs or ()))), None)

    def swallow(self, other: "OpenSession") -> None:
        """Take over all that another session holds."""
        self.traces.update(other.traces)
        self.keys.update(other.keys)
        self.names.update(other.names)
        self.is_placed()
        other.is_placed()
        self.pieces += other.pieces
        self.looked_at = len(self.pieces)
        self.count += other.count
        self.size += other.size
        self.first_ns = min(self.first_ns, other.first_ns)
        self.last_ns = max(self.last_ns, other.last_ns)
        self.root_ended = self.root_ended or other.root_ended
        self.owned = self.owned or other.owned
        self.service = self.service or other.service
        self.waits_for_others = self.waits_for_others or other.waits_for_others

    def forget(self) -> None:
        """Let go of what is decoded; the places in the journal stay."""
        self.is_placed()
        for piece in self.pieces:
            piece.spans = piece.logs = None
        self.size = 0

    def _look_for_agent(self) -> None:
        """Look at what came since it was looked for last, roots first: an agent mostly is one, and asking is dear."""
        spans = [span for piece in self.pieces[self.looked_at :] for span in piece.spans or ()]
        spans.sort(key=lambda span: span.parent_span_id is not None)
        self.looked_at = len(self.pieces)
        self.owned = any(is_whole_agent(span) for span in spans)

    def deadline(self, patience: Patience) -> tuple[int, CloseReason]:
        """Return when it is to be closed if nothing comes, and why."""
        quiet = (
            (self.last_ns + patience.after_root_ns, CloseReason.ROOT_ENDED_IDLE)
            if self.root_ended and not self.waits_for_others
            else (self.last_ns + patience.idle_ns, CloseReason.IDLE)
        )
        return min(quiet, (self.first_ns + patience.longest_ns, CloseReason.TOO_LONG))
