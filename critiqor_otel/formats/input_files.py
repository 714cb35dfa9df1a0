"""Which files lie under a folder: recursively, in sorted order, each folder once."""

import os
from collections.abc import Iterator
from pathlib import Path

from analyzer.session.model import Note

__all__ = ["SKIPPED_FILE", "UNREADABLE_INPUT", "files_under", "is_folder", "place_of"]

UNREADABLE_INPUT = "unreadable-input"
"""The code of a note on something that was to be read and can't be."""
SKIPPED_FILE = "skipped-file"
"""The code of a note on something in a folder that is no evidence."""

_OWN_FOLDERS = frozenset((".spool",))  # a receiver's journal among the runs it sealed: nothing a user put there


def files_under(folder: Path) -> Iterator[Path | Note]:
    """Yield the files of a folder and of those inside it, and a note on each entry that is passed over.

    A receiver's own folder is passed over without one. Hidden entries and what is neither file nor folder are passed
    over; links are followed, a folder is entered once.
    """
    entered: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        if path.name in _OWN_FOLDERS and path != folder:
            continue
        if path.name.startswith(".") and path != folder:
            yield _note(SKIPPED_FILE, path, "hidden")
            continue
        found = _look_at(path, entered)
        if isinstance(found, list):
            waiting += reversed(found)
        else:
            yield found


def is_folder(name: str) -> bool:
    """Tell whether a name that a user gave is that of a folder; a name that no file can bear is not."""
    try:
        return bool(name) and Path(name).is_dir()
    except OSError:  # too long
        return False


def place_of(path: Path) -> str:
    """Return the path as text for people: names that are no Unicode are mended."""
    return os.fsencode(path).decode("utf-8", "replace")


def _look_at(path: Path, entered: set[tuple[int, int]]) -> list[Path] | Path | Note:
    try:
        if path.is_dir():
            return _enter(path, entered)
        return path if path.is_file() else _note(SKIPPED_FILE, path, "neither a file nor a folder")
    except OSError as error:  # a folder above it, or above what it links to, may not be searched
        return _note(UNREADABLE_INPUT, path, f"it can't be reached: {error.strerror}")


def _enter(path: Path, entered: set[tuple[int, int]]) -> list[Path] | Note:
    try:
        status = path.stat()
        inside = sorted(path.iterdir())
    except OSError as error:
        return _note(UNREADABLE_INPUT, path, f"the folder can't be read: {error.strerror}")
    key = status.st_dev, status.st_ino
    if key in entered:
        return _note(SKIPPED_FILE, path, "a link to a folder that was read already")
    entered.add(key)
    return inside


def _note(code: str, path: Path, message: str) -> Note:
    return Note(code=code, message=message, place=place_of(path))
