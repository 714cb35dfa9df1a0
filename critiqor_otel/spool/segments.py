"""The files the journal consists of: numbered, written one after another, removed one by one."""

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["Position", "journal_bytes", "remove_segment", "segment_path", "segments"]

_NAME = re.compile(r"([0-9]{16})\.journal")


class Position(NamedTuple):
    """Where a record starts: the segment's number, and the byte in it."""

    segment: int
    offset: int


def segment_path(folder: Path, number: int) -> Path:
    """Return the path of a segment."""
    return folder / f"{number:016d}.journal"


def segments(folder: Path) -> list[int]:
    """Return the numbers of the segments that are there, in order."""
    found = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    return sorted(int(match[1]) for match in found if match is not None)


def journal_bytes(folder: Path) -> int:
    """Return the bytes that all segments take; one that goes while we look counts nothing."""
    total = 0
    for number in segments(folder):
        try:
            total += segment_path(folder, number).stat().st_size
        except FileNotFoundError:
            continue
    return total


def remove_segment(folder: Path, number: int) -> None:
    """Remove a segment; it may be gone already."""
    segment_path(folder, number).unlink(missing_ok=True)
