"""The sessions that are still open: which traces belong together, and when each is to be closed, and why.

No clock, no disk, no lock: one owner adds what came and asks what is due, and tells the time. What is open rests in the
journal; decoded spans are kept as long as they fit into the bound, and forgotten, first of the session that is to stay
open longest, when they do not: their places in the journal stay.
"""

import heapq
from collections.abc import Iterator, Sequence

import msgspec

from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.open_session import NO_SERVICE, OpenSession, Patience, Piece
from critiqor_otel.spool.run_keys import Key, keys_of, names_in

__all__ = ["Closed", "OpenSession", "OpenSessions", "Patience", "Piece"]

_KEPT = 15 / 16  # of the bound on decoded bytes, once it is reached: so that it is not reached at every piece
_COMPANIONS = 64  # sessions of one service at once; among more, nobody can say which one a silent trace goes with


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
        self._by_service: dict[Key, dict[int, OpenSession]] = {}
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
        if session.service is None:
            self._leave_service(session)  # what came may say which it is
            session.take(piece, now_ns)
            self._enter_service(session)
        else:
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
            elif reason is CloseReason.TOO_LONG:
                closed.append(self._close(session, reason))
            elif session.is_placed():
                closed.append(self._close(self._with_companions(session), reason))
            else:
                self._pool(session, now_ns)
        return closed

    def take_all(self, reason: CloseReason) -> list[Closed]:
        """Close everything; what one service sent is closed together, as if read from files, if it is not too much."""
        for sessions in [list(together.values()) for together in self._by_service.values()]:
            if sum(session.count for session in sessions) <= self._patience.most_spans:
                self._join_all(sessions)
            else:
                self._join_all([session for session in sessions if not session.is_placed()])
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
        told = [own for log in piece.logs or () if (own := span_of_record(log)) is not None]
        for span in (*(piece.spans or ()), *told):
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
        self._leave_service(kept)
        self._leave_service(gone)
        kept.swallow(gone)
        self._enter_service(kept)
        self._by_trace.update(dict.fromkeys(gone.traces, kept))
        self._by_key.update(dict.fromkeys(gone.keys, kept))
        del self._all[id(gone)]
        self._watch(kept)
        return kept

    def _join_all(self, sessions: Sequence[OpenSession]) -> None:
        joined = sessions[0] if sessions else None
        for session in sessions[1:]:
            joined = self._join(joined or session, session)

    def _with_companions(self, session: OpenSession) -> OpenSession:
        """Join it with traces of its service in which no agent speaks, if no other session could be theirs."""
        together = self._by_service[session.service or NO_SERVICE]
        if len(together) > _COMPANIONS:
            return session
        others = [other for other in together.values() if other is not session]
        if any(other.is_placed() for other in others):
            return session
        for other in others:
            session = self._join(session, other)
        return session

    def _pool(self, session: OpenSession, now_ns: int) -> None:
        """Let a trace in which no agent speaks, and which names no run, wait with the others of its service."""
        session.last_ns = now_ns
        session.waits_for_others = True
        self._watch(self._under_key(session, session.service or NO_SERVICE))

    def _close(self, session: OpenSession, reason: CloseReason) -> Closed:
        del self._all[id(session)]
        for trace_id in session.traces:
            del self._by_trace[trace_id]
        for key in session.keys:
            del self._by_key[key]
        self._leave_service(session)
        self.decoded_bytes -= session.size
        return Closed(session, reason)

    def _enter_service(self, session: OpenSession) -> None:
        self._by_service.setdefault(session.service or NO_SERVICE, {})[id(session)] = session

    def _leave_service(self, session: OpenSession) -> None:
        key = session.service or NO_SERVICE
        together = self._by_service.get(key, {})
        together.pop(id(session), None)
        if not together:
            self._by_service.pop(key, None)

    def _stay_within_bound(self) -> None:
        """Forget what is decoded until some of the bound is free, first of the session that is to be closed last."""
        if self.decoded_bytes <= self._patience.decoded_bytes:
            return
        decoded = [session for session in self._all.values() if session.size]
        decoded.sort(key=lambda session: session.deadline(self._patience)[0])
        while decoded and self.decoded_bytes > self._patience.decoded_bytes * _KEPT:
            session = decoded.pop()
            self.decoded_bytes -= session.size
            session.forget()
