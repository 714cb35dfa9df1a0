"""The sessions that are still open: which traces belong together, and when each is to be closed, and why.

No clock, no disk, no lock: one owner adds what came and asks what is due, and tells the time. What is open rests in the
journal; decoded spans are kept as long as they fit into the bound, and forgotten, the oldest session's first, when they
do not: their places in the journal stay.
"""

import heapq
from collections.abc import Iterator

import msgspec

from critiqor_otel.span import LogRecord, Span
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.run_keys import Key, is_agent, keys_of, names_in, service_key
from critiqor_otel.spool.segments import Position

__all__ = ["Closed", "OpenSession", "OpenSessions", "Patience", "Piece"]

_SECOND = 1_000_000_000
_NO_SERVICE: Key = ("service", "")


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a session may stay open, and how large it may get."""

    after_root_ns: int = 10 * _SECOND
    """Quiet time after which a session whose root span has ended is closed."""
    idle_ns: int = 60 * _SECOND
    """Quiet time after which any session is closed."""
    longest_ns: int = 3600 * _SECOND
    most_spans: int = 100_000
    """Spans and log records of one session, repeats counted."""
    decoded_bytes: int = 32 << 20
    """Bytes of requests whose spans may be kept decoded; a decoded span takes about five times its bytes."""


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
        for span in piece.spans or ():
            self.root_ended = self.root_ended or (span.parent_span_id is None and span.end_ns > 0)
            self.service = self.service or service_key(span)

    def swallow(self, other: "OpenSession") -> None:
        """Take over all that another session holds."""
        self.traces.update(other.traces)
        self.keys.update(other.keys)
        self.names.update(other.names)
        self.pieces += other.pieces
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
        """Ask roots first: that is where an agent mostly is, and asking is dear."""
        spans = [span for piece in self.pieces for span in piece.spans or ()]
        spans.sort(key=lambda span: span.parent_span_id is not None)
        self.owned = any(is_agent(span) for span in spans)

    def deadline(self, patience: Patience) -> tuple[int, CloseReason]:
        """Return when it is to be closed if nothing comes, and why."""
        quiet = (
            (self.last_ns + patience.after_root_ns, CloseReason.ROOT_ENDED_IDLE)
            if self.root_ended and not self.waits_for_others
            else (self.last_ns + patience.idle_ns, CloseReason.IDLE)
        )
        return min(quiet, (self.first_ns + patience.longest_ns, CloseReason.TOO_LONG))


class Closed(msgspec.Struct, frozen=True):
    """A session that takes nothing more, and why."""

    session: OpenSession
    reason: CloseReason


class OpenSessions:
    """All that is open, by trace and by key."""

    def __init__(self, patience: Patience) -> None:
        """Begin with nothing open."""
        self._patience = patience
        self._by_trace: dict[str, OpenSession] = {}
        self._by_key: dict[Key, OpenSession] = {}
        self._all: dict[int, OpenSession] = {}
        self._due: list[tuple[int, int, int]] = []  # when to look at a session, a number that breaks ties, its id()
        self._numbers = 0
        self.decoded_bytes = 0

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[OpenSession]:
        return iter(self._all.values())

    def __contains__(self, trace_id: str) -> bool:
        return trace_id in self._by_trace

    def add(self, piece: Piece, *, now_ns: int, transport: str) -> list[Closed]:
        """Give a trace's spans and records to the session they belong to; return what grew too large by it."""
        session = self._by_trace.get(piece.trace_id)
        if session is None:
            session = self._open(now_ns, transport)
            session.traces[piece.trace_id] = None
            self._by_trace[piece.trace_id] = session
        had_ended = session.root_ended
        session.take(piece, now_ns)
        self.decoded_bytes += piece.size
        session = self._tie(session, piece)
        if session.root_ended and not had_ended:
            self._watch(session)
        if session.count >= self._patience.most_spans:
            return [self._close(session, CloseReason.TOO_LARGE)]
        self._stay_within_bound()
        return []

    def take_due(self, now_ns: int) -> list[Closed]:
        """Close what is due, the longest due first."""
        closed: list[Closed] = []
        while self._due and self._due[0][0] <= now_ns:
            session = self._all.get(heapq.heappop(self._due)[2])
            if session is None:
                continue
            deadline, reason = session.deadline(self._patience)
            if deadline > now_ns:
                self._watch(session)
            elif session.is_placed() or reason is CloseReason.TOO_LONG:
                closed.append(self._close(session, reason))
            else:
                self._pool(session, now_ns)
        return closed

    def take_all(self, reason: CloseReason) -> list[Closed]:
        """Close everything, traces of one service that have no other key together."""
        for session in list(self._all.values()):
            if not session.is_placed() and id(session) in self._all:
                self._pool(session, session.last_ns)
        return [self._close(session, reason) for session in list(self._all.values())]

    def _open(self, now_ns: int, transport: str) -> OpenSession:
        session = OpenSession(now_ns, transport)
        self._all[id(session)] = session
        self._watch(session)
        return session

    def _watch(self, session: OpenSession) -> None:
        self._numbers += 1
        heapq.heappush(self._due, (session.deadline(self._patience)[0], self._numbers, id(session)))

    def _tie(self, session: OpenSession, piece: Piece) -> OpenSession:
        """Join the session with those that its new spans point to; return what became of it."""
        for span in piece.spans or ():
            names = names_in(span)
            if names and names not in session.names:
                for key in keys_of(span):
                    session = self._under_key(session, key)
                    session.names[names] = None
            for link in span.links:
                other = self._by_trace.get(link.trace_id)
                if other is not None:
                    session = self._join(session, other)
        return session

    def _under_key(self, session: OpenSession, key: Key) -> OpenSession:
        session.keys[key] = None
        other = self._by_key.setdefault(key, session)
        return self._join(session, other)

    def _join(self, one: OpenSession, other: OpenSession) -> OpenSession:
        if one is other:
            return one
        kept, gone = (one, other) if one.count >= other.count else (other, one)
        kept.swallow(gone)
        self._by_trace.update(dict.fromkeys(gone.traces, kept))
        self._by_key.update(dict.fromkeys(gone.keys, kept))
        del self._all[id(gone)]
        self._watch(kept)
        return kept

    def _pool(self, session: OpenSession, now_ns: int) -> None:
        """Let a trace in which no agent speaks, and which names no run, wait with the others of its service."""
        session.last_ns = now_ns
        session.waits_for_others = True
        self._watch(self._under_key(session, session.service or _NO_SERVICE))

    def _close(self, session: OpenSession, reason: CloseReason) -> Closed:
        del self._all[id(session)]
        for trace_id in session.traces:
            del self._by_trace[trace_id]
        for key in session.keys:
            del self._by_key[key]
        self.decoded_bytes -= session.size
        return Closed(session, reason)

    def _stay_within_bound(self) -> None:
        """Forget what is decoded until half the bound is free, the session that was quiet longest first."""
        if self.decoded_bytes <= self._patience.decoded_bytes:
            return
        for session in sorted(self._all.values(), key=lambda session: session.last_ns):
            if self.decoded_bytes <= self._patience.decoded_bytes // 2:
                return
            self.decoded_bytes -= session.size
            session.forget()
