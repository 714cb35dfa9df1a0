"""The journal: what is acknowledged stands in it, synced to the disk.

One thread writes. Requests that wait at the same moment share one write and one `fdatasync`. After an error the
segment is cut back to what was synced and never written again: the next record begins a new one.
"""

import errno
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from critiqor_otel.errors import JournalError
from critiqor_otel.spool.record import Record, frame, size_of
from critiqor_otel.spool.segments import journal_bytes, segment_path, segments

__all__ = ["Done", "Journal", "JournalLimits"]

Done = Callable[[JournalError | None], None]
"""Told once, from the writing thread: None when the record is on the disk."""

_BUFFERS = 1000  # of one writev; Linux allows 1024
_LOOK_AGAIN = 1 << 23  # bytes written before the journal's size is measured anew


class JournalLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How large the journal and its parts may get, in bytes."""

    segment: int = 1 << 26
    """A segment that has reached this is closed; a single record may go beyond."""
    total: int = 1 << 33
    """All segments; what does not fit is refused until sessions are sealed and segments removed."""
    waiting: int = 1 << 28
    """Records handed in and not yet written."""


class Journal:
    """Appends records to segments in a folder, which must be there."""

    def __init__(self, folder: Path, *, limits: JournalLimits) -> None:
        """Begin behind the segments that are there; nothing is opened before the first record."""
        self._folder = folder
        self._limits = limits
        self._next = max(segments(folder), default=0) + 1
        self._file: int | None = None
        self._size = 0
        self._total = journal_bytes(folder)
        self._unmeasured = 0
        self._waiting: list[tuple[Record, Done]] = []
        self._waiting_bytes = 0
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._write_on, name="journal", daemon=True)
        self._thread.start()

    def append(self, record: Record, done: Done) -> None:
        """Hand in a record; `done` is told when it is safe, or why it is not.

        Raises:
            JournalError: it is not taken: the journal is closed, or holds as much as it may.
        """
        size = size_of(record)
        with self._changed:
            if self._closing:
                raise JournalError("the journal is closed: the receiver is shutting down")
            if self._waiting_bytes + size > self._limits.waiting and self._waiting:
                raise JournalError(f"{self._waiting_bytes} bytes wait to be written, which is all that may")
            if self._total + self._waiting_bytes + size > self._limits.total:
                raise JournalError(f"the journal holds {self._total} bytes of at most {self._limits.total}")
            self._waiting.append((record, done))
            self._waiting_bytes += size
            self._changed.notify()

    def write(self, record: Record) -> None:
        """Append a record and wait until it is on the disk.

        Raises:
            JournalError: it is not.
        """
        answered = threading.Event()
        answers: list[JournalError | None] = []

        def done(error: JournalError | None) -> None:
            answers.append(error)
            answered.set()

        self.append(record, done)
        answered.wait()
        if answers[0] is not None:
            raise answers[0]

    def close(self) -> None:
        """Write what waits, take nothing more, and let go of the file."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    @property
    def total_bytes(self) -> int:
        """What all segments took when they were last measured, and what was written since."""
        return self._total

    def _write_on(self) -> None:
        while batch := self._take():
            error = self._commit([record for record, _ in batch])
            for _, done in batch:
                done(error)
            del batch
        if self._file is not None:
            os.close(self._file)

    def _take(self) -> list[tuple[Record, Done]]:
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            batch, self._waiting, self._waiting_bytes = self._waiting, [], 0
            return batch

    def _commit(self, records: Sequence[Record]) -> JournalError | None:
        """Write and sync the records; on an error none of them counts as written."""
        before = self._size
        try:
            file = self._opened()
            before = self._size
            written = sum(_write_all(file, buffers) for buffers in _in_parts(_buffers(records)))
            os.fdatasync(file)
            self._find(file)
        except OSError as error:
            self._give_up(before)
            return JournalError(f"the journal cannot be written: {error.strerror or error}")
        self._count(written)
        return None

    def _opened(self) -> int:
        if self._file is not None and self._size >= self._limits.segment:
            self._leave()
        if self._file is None:
            path = segment_path(self._folder, self._next)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
            self._next += 1
            self._size = 0
            _sync_folder(self._folder)
        return self._file

    def _find(self, file: int) -> None:
        """Make sure that the segment is where it will be looked for.

        Raises:
            OSError: it is not: its folder was moved or removed.
        """
        if not os.path.samestat(os.stat(segment_path(self._folder, self._next - 1)), os.fstat(file)):  # noqa: PTH116  # in the hot path
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _count(self, written: int) -> None:
        self._size += written
        self._total += written
        self._unmeasured += written
        if self._unmeasured >= _LOOK_AGAIN:
            self._measure()

    def _measure(self) -> None:
        with suppress(OSError):  # what can't be looked at keeps its size
            self._total = journal_bytes(self._folder)
        self._unmeasured = 0

    def _give_up(self, size: int) -> None:
        """Cut the segment back to what is synced; what could not be cut, the reader knows for torn."""
        if self._file is None:
            return
        try:
            os.ftruncate(self._file, size)
        except OSError:
            pass
        finally:
            self._leave()

    def _leave(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
        self._measure()


def _buffers(records: Sequence[Record]) -> list[bytes]:
    return [part for record in records for part in (frame(record), record.payload)]


def _in_parts(buffers: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(buffers), _BUFFERS):
        yield buffers[start : start + _BUFFERS]


def _write_all(file: int, buffers: Sequence[bytes]) -> int:
    """Write the buffers, however often the system stops half-way; return the bytes written."""
    rest: list[memoryview] = [memoryview(buffer) for buffer in buffers if buffer]
    total = 0
    while rest:
        written = os.writev(file, rest)
        total += written
        while rest and written >= len(rest[0]):
            written -= len(rest.pop(0))
        if written:
            rest[0] = rest[0][written:]
    return total


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
