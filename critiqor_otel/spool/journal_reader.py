"""Reading the journal back, while it is written and after a crash: every whole record, and word of what is damaged.

A record cut at the end of a segment was never acknowledged. A record whose checksum fails is left out and told with
its bytes; reading goes on at the next record, which is found by its mark where the length can't be trusted.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from critiqor_otel.spool.record import HEADER_SIZE, MAGIC, Record, holds, read_head, recorded, size_of
from critiqor_otel.spool.segments import Position, segment_path, segments

__all__ = ["Damage", "JournalReader", "Stored"]

_CHUNK = 1 << 20

_Kind = Literal["torn", "damaged"]


class Stored(msgspec.Struct, frozen=True):
    """A record and where it stands."""

    position: Position
    record: Record


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of the journal that are no whole record."""

    position: Position
    kind: _Kind
    """torn: the end of a segment, cut while it was written; damaged: bytes that changed since."""
    data: bytes


class JournalReader:
    """Yields records in the order they were written; it may be asked again for what came since."""

    def __init__(self, folder: Path, *, finished: int) -> None:
        """Begin at the oldest segment; those up to the number `finished` are written no more."""
        self._folder = folder
        self._finished = finished
        self._segment: _Segment | None = None

    @property
    def segment(self) -> int:
        """The number of the segment that is read, 0 before the first; those before it are done."""
        return 0 if self._segment is None else self._segment.number

    def unread_bytes(self) -> int:
        """Return how many bytes of the journal were not read yet."""
        total = 0
        for number in segments(self._folder):
            if number >= self.segment:
                total += _size(segment_path(self._folder, number))
        return max(0, total - (0 if self._segment is None else self._segment.offset))

    def read(self) -> Iterator[Stored | Damage]:
        """Yield what can be read now; nothing while the newest record is still being written."""
        while True:
            # Looked up before reading: what is not whole in a segment that has a successor never will be.
            later = min((number for number in segments(self._folder) if number > self.segment), default=None)
            if self._segment is not None:
                yield from self._segment.read(done=later is not None or self.segment <= self._finished)
            if later is None:
                return
            self.close()
            self._segment = _Segment(self._folder, later)

    def read_at(self, position: Position) -> Record | None:
        """Return the record that was read at a position; None when it can't be read any more."""
        try:
            file = os.open(segment_path(self._folder, position.segment), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            return _whole_record(file, position.offset)
        finally:
            os.close(file)

    def close(self) -> None:
        """Let go of the file."""
        if self._segment is not None:
            self._segment.close()


class _Segment:
    """One segment, read up to a byte."""

    def __init__(self, folder: Path, number: int) -> None:
        self.number = number
        self.offset = 0
        self._file = os.open(segment_path(folder, number), os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def read(self, *, done: bool) -> Iterator[Stored | Damage]:
        while True:
            at = Position(self.number, self.offset)
            record = _whole_record(self._file, self.offset)
            if record is not None:
                self.offset += size_of(record)
                yield Stored(at, record)
                continue
            damage = self._damage(at, done=done)
            if damage is None:
                return
            if _whole_record(self._file, self.offset) is not None:
                continue  # it became whole between the two looks
            self.offset += len(damage.data)
            yield damage

    def _damage(self, at: Position, *, done: bool) -> Damage | None:
        """Return the bytes up to the next record or the end; None while they may yet become a record."""
        size = os.fstat(self._file).st_size
        if size <= at.offset:
            return None
        head = read_head(os.pread(self._file, HEADER_SIZE, at.offset))
        end = size + 1 if head is None else at.offset + HEADER_SIZE + head.length
        if not done and (end > size if head is not None else size - at.offset < HEADER_SIZE):
            return None
        if end < size and os.pread(self._file, len(MAGIC), end) != MAGIC:
            end = size + 1
        kind: _Kind = "damaged"
        if end > size:
            found = self._next_mark(at.offset + 1, size)
            if found is None and not done:
                return None
            kind = "torn" if found is None else "damaged"
            end = size if found is None else found
        return Damage(position=at, kind=kind, data=os.pread(self._file, end - at.offset, at.offset))

    def _next_mark(self, start: int, size: int) -> int | None:
        for at in range(start, size, _CHUNK):
            found = os.pread(self._file, _CHUNK + len(MAGIC) - 1, at).find(MAGIC)
            if found >= 0:
                return at + found
        return None


def _whole_record(file: int, offset: int) -> Record | None:
    header = os.pread(file, HEADER_SIZE, offset)
    head = read_head(header)
    if head is None:
        return None
    content = os.pread(file, head.length, offset + HEADER_SIZE)
    return recorded(head, content) if len(content) == head.length and holds(header, content) else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
