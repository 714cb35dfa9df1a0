"""Which spans are sealed already, and in which run: what makes a repeated delivery a repeat after a restart too.

A small database beside the runs, and never the truth: the session files are. Whatever it does not know of them (a crash
between a file and its row, a file another verb wrote, the database deleted) is read from them at start.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session
from analyzer.session.model import Note, Session
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.sealed_runs import complete_receipt

__all__ = ["SealedIndex", "SealedTrace", "Spans", "spans_of"]

_SPAN = 8  # bytes of a span id
_SCHEMA = """
CREATE TABLE IF NOT EXISTS folders (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS traces (trace BLOB NOT NULL, run TEXT NOT NULL, spans BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS by_trace ON traces (trace);
"""


Spans = dict[str, dict[str, None]]
"""The span ids that a session holds, by trace id, in order of appearance."""


class SealedTrace(msgspec.Struct, frozen=True):
    """What is sealed of one trace."""

    run_id: str
    """The run that was sealed first with spans of it, without the number of a continuation."""
    span_ids: frozenset[str]


class SealedIndex:
    """Answers which spans of a trace are sealed."""

    def __init__(self, file: Path) -> None:
        """Open the database, or make it; one that is damaged is made anew."""
        self._file = file
        try:
            self._base = _opened(file)
        except sqlite3.DatabaseError:
            for part in file.parent.glob(f"{file.name}*"):
                part.unlink()
            self._base = _opened(file)

    def learn(self, runs: Path) -> list[Note]:
        """Take in the session files that are not known yet; return a note for each that cannot be read."""
        notes: list[Note] = []
        known = {str(name) for (name,) in self._base.execute("SELECT name FROM folders")}
        for folder in sorted(path for path in runs.iterdir() if path.name not in known):
            try:
                content = (folder / SESSION_FILE).read_bytes()
                session = read_session(content)
                complete_receipt(folder, session, content)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (SessionFileError, OSError) as error:
                notes.append(Note(code="unreadable-session", message=str(error), place=str(folder / SESSION_FILE)))
                session = Session(run_id=folder.name)
            self.add([(folder, session, spans_of(session))])
        return notes

    def add(self, sealed: Iterable[tuple[Path, Session, Spans]]) -> None:
        """Remember the spans of sealed sessions, all of them or, after a crash, none."""
        with self._base:
            for folder, session, spans in sealed:
                self._base.execute("INSERT OR IGNORE INTO folders VALUES (?)", (folder.name,))
                self._base.executemany("INSERT INTO traces VALUES (?, ?, ?)", _rows(session, spans))

    def sealed(self, trace_id: str) -> SealedTrace | None:
        """Return what is sealed of a trace, None when nothing is."""
        rows = self._base.execute(
            "SELECT run, spans FROM traces WHERE trace = ? ORDER BY rowid", (bytes.fromhex(trace_id),)
        ).fetchall()
        if not rows:
            return None
        ids = frozenset(span_id for _, spans in rows for span_id in _split(spans))
        return SealedTrace(run_id=rows[0][0], span_ids=ids)

    def close(self) -> None:
        """Let go of the database."""
        self._base.close()


def spans_of(session: Session) -> Spans:
    """Return the spans that a session holds."""
    found: Spans = {}
    for event in session.events:
        if event.span is not None:
            found.setdefault(event.span.trace_id, {})[event.span.span_id] = None
    return found


def _opened(file: Path) -> sqlite3.Connection:
    base = sqlite3.connect(file, check_same_thread=False)
    try:
        # Not synced with every commit: a row that a power cut takes is read from its session file again.
        base.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {_SCHEMA}")
    except sqlite3.DatabaseError:
        base.close()
        raise
    return base


def _rows(session: Session, spans: Spans) -> Iterator[tuple[bytes, str, bytes]]:
    run_id = session.run_id if session.continues is None else session.continues
    for trace_id, span_ids in spans.items():
        try:
            yield bytes.fromhex(trace_id), run_id, b"".join(map(bytes.fromhex, span_ids))
        except ValueError:  # a session that somebody else wrote, with ids that no span can have
            continue


def _split(spans: bytes) -> Iterator[str]:
    text = spans.hex()
    for start in range(0, len(text), 2 * _SPAN):
        yield text[start : start + 2 * _SPAN]
