"""The history as a file of JSON lines, one evaluation a line: safe to append to from many processes at once."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from analyzer.evaluation.record import EvaluationRecord
from analyzer.session.jsontext import canonical, read_json
from analyzer.session.model import Note
from analyzer.session.shapes import is_object

__all__ = ["HistoryWarning", "append_lines", "read_lines", "record_bytes", "replace_lines"]

_FIELDS = frozenset(field.name for field in fields(EvaluationRecord))


class HistoryWarning(UserWarning):
    """Something in a history could not be read, and was left out."""


def record_bytes(record: EvaluationRecord) -> bytes:
    """Return the record as one line of JSON, keys sorted, without the line's end."""
    return canonical(record.to_dict())


def append_lines(path: Path, records: Iterable[EvaluationRecord]) -> None:
    """Append records in one write, under a lock that all writers and readers of the file take.

    A last line that a crash cut off is ended first, so that it costs nobody else's line.
    """
    data = b"".join(record_bytes(record) + b"\n" for record in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def replace_lines(path: Path, records: Iterable[EvaluationRecord]) -> int:
    """Write records to a file that appears whole or not at all, and return how many they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    count = 0
    try:
        with aside.open("wb") as file:
            for record in records:
                file.write(record_bytes(record) + b"\n")
                count += 1
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return count


def read_lines(path: Path) -> Iterator[EvaluationRecord | Note]:
    """Yield the records of a file, and a note in place of each line that holds none. Blank lines are nothing.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        for number, line in enumerate(file, 1):
            if line.strip(b" \t\r\n\0\xef\xbb\xbf"):
                yield _read(line, f"{path}:{number}")


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:  # one write, unless the disk is full or the data beyond two gigabytes
        left = left[os.write(descriptor, left) :]


def _read(line: bytes, place: str) -> EvaluationRecord | Note:
    try:
        value: Any = read_json(line)[0]
    except ValueError as error:
        return Note(code="unreadable-line", message=f"a line is no JSON and was left out: {error}", place=place)
    if not is_object(value):
        kind = type(value).__name__
        return Note(code="unreadable-line", message=f"a line holds no object but {kind}; it was left out", place=place)
    if _FIELDS.isdisjoint(value):
        message = "a line holds an object with no field of an evaluation; it was left out"
        return Note(code="unreadable-line", message=message, place=place)
    return EvaluationRecord.from_dict(value)
