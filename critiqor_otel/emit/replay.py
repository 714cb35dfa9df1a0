"""Recorded sessions are sent as spans with their own times: whole files, or one that is still being written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.conventions.carriage import SESSION, ascii_json
from critiqor_otel.emit.derived_ids import trace_id_of
from critiqor_otel.emit.recorded_spans import RecordedSpans
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.session_spans import head_of, links_of, spans_of, tracks_of
from critiqor_otel.span import Span

__all__ = ["Replayed", "Send", "follow", "redacted", "replay"]

Send = Callable[[Sequence[Span]], bool]
"""Sends spans, and returns whether all were taken."""

_BATCH = 512  # spans a request


class Replayed(Struct):
    """What was sent."""

    sessions: int = 0
    spans: int = 0
    is_whole: bool = True
    """Everything was taken."""

    def send(self, spans: Iterable[Span], send: Send) -> None:
        """Send spans in batches and count them."""
        batch: list[Span] = []
        for span in spans:
            batch.append(span)
            if len(batch) == _BATCH:
                self._send(batch, send)
                batch = []
        if batch:
            self._send(batch, send)

    def _send(self, batch: list[Span], send: Send) -> None:
        self.spans += len(batch)
        self.is_whole = send(batch) and self.is_whole


def replay(sessions: Iterable[Session], send: Send) -> Replayed:
    """Send the spans of sessions; the same session gives the same spans, ids and all."""
    replayed = Replayed()
    for session in sessions:
        replayed.sessions += 1
        replayed.send(spans_of(session), send)
    return replayed


def redacted(session: Session, redaction: Redaction) -> Session:
    """Return the session without the secrets in its events and its other fields."""
    return msgspec.structs.replace(
        session,
        events=tuple(redaction.event(event) for event in session.events),
        extra=redaction.attributes(session.extra),
    )


def follow(path: Path, send: Send, wait: Callable[[], bool]) -> Replayed:
    """Send the spans of a session file as it grows; each when it is finished, what is open at the end.

    `wait` waits for a while and returns False when it is enough. What can't be read at a moment (a file in the middle
    of being written) is read the next time.
    """
    replayed = Replayed()
    followed: _Followed | None = None
    goes_on = True
    while goes_on:
        goes_on = wait()
        session = _read(path)
        if session is None:
            continue
        if followed is None:
            followed = _Followed(session)
            replayed.sessions = 1
        replayed.send(followed.spans(session), send)
    if followed is not None:
        replayed.send(followed.rest(), send)
    return replayed


class _Followed:
    """How far a growing session has been told."""

    def __init__(self, session: Session) -> None:
        self._session = session
        tracks = tracks_of(session.run_id, trace_id_of(session.run_id), session.agent)
        self._recorded = RecordedSpans(tracks, session.agent)
        self._told = 0

    def spans(self, session: Session) -> Iterator[Span]:
        """Yield the spans that are finished by now; a file that lost events tells nothing new."""
        if len(session.events) < self._told:
            return
        self._session = session
        for sequence in range(self._told, len(session.events)):
            yield from self._recorded.feed(session.events[sequence], sequence)
        self._told = len(session.events)

    def rest(self) -> Iterator[Span]:
        """Yield what is still open, and last the run."""
        head = ascii_json(head_of(self._session))
        yield from self._recorded.finish({SESSION: head}, links_of(self._session))


def _read(path: Path) -> Session | None:
    try:
        return read_session(path.read_bytes())
    except (OSError, SessionFileError):
        return None
