"""What there is to read: each file of the paths that were given, or a part of one, before it is opened."""

import io
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec

from analyzer.pattern import pattern
from analyzer.session.model import Note
from critiqor_otel.backends.address import is_address, shown_address
from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.input_files import SKIPPED_FILE, UNREADABLE_INPUT, files_under, is_folder, place_of

__all__ = [
    "HISTORY_FILE",
    "STANDARD_INPUT",
    "Input",
    "file_system",
    "found_from_anywhere",
    "inputs_of",
    "is_remote",
    "open_input",
    "size_of",
]

STANDARD_INPUT = "-"
HISTORY_FILE = "history.sqlite"
"""The name of the history among runs, said here since its own module takes long to load."""

_BUFFER = 1 << 20
_REMOTE = pattern(r"[a-z][a-z0-9+.-]*://")


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """A file, standard input or the address of a back end; or a note on what can't be read at all."""

    path: str
    place: str
    """The path as people read it."""
    code: str = UNREADABLE_INPUT
    """The code of the note where it can't be read."""
    note: Note | None = None
    is_ours: bool = False
    """It is something that this package keeps among runs, and no evidence."""
    in_folder: bool = False
    """It was met in a folder."""
    start: int = 0
    end: int | None = None
    """The bytes of it that are meant, where it is read in parts."""


def inputs_of(paths: Sequence[str]) -> Iterator[Input]:
    """Yield what is to be read of the paths, in the order given; files of a folder in sorted order."""
    for path in paths:
        if is_address(path):
            yield Input(path=path, place=shown_address(path))
        elif is_remote(path):
            yield from _remote(path)
        elif path != STANDARD_INPUT and is_folder(path):
            yield from _folder(Path(path))
        else:
            yield Input(path=path, place=path)


def is_remote(path: str) -> bool:
    """Tell whether a path is an address of a file system that fsspec reads (`s3://…`, `gs://…`, `memory://…`)."""
    return _REMOTE.match(path) is not None and not is_address(path)


def found_from_anywhere(one: Input) -> Input:
    """Return the input with a path that holds in any folder, as other processes are in theirs."""
    if one.note is not None or one.path == STANDARD_INPUT or is_address(one.path) or is_remote(one.path):
        return one
    return msgspec.structs.replace(one, path=os.path.abspath(one.path))  # noqa: PTH100  # a name with a NUL passes


def open_input(one: Input) -> BinaryIO:
    """Open a file, or the part of it that is meant.

    Raises:
        OSError: it can't be opened.
        ValueError: no file can bear that name.
        UnreadableInputError: it is elsewhere, and what reads from there is not installed.
    """
    opened = file_system(one.path)[0].open(one.path, "rb") if is_remote(one.path) else _opened(one.path)
    if one.start == 0 and one.end is None:
        return opened
    return cast("BinaryIO", io.BufferedReader(_Section(opened, one.start, one.end), _BUFFER))


def size_of(path: str) -> int:
    """Return how many bytes a file holds; 0 where that is not known."""
    try:
        return int(file_system(path)[0].size(path) or 0) if is_remote(path) else Path(path).stat().st_size
    except (OSError, ValueError, UnreadableInputError):
        return 0


def _opened(path: str) -> BinaryIO:
    return Path(path).open("rb", buffering=_BUFFER)


class _Section(io.RawIOBase):
    """The bytes of a file between two places."""

    def __init__(self, source: BinaryIO, start: int, end: int | None) -> None:
        super().__init__()
        self._source = source
        self._left = None if end is None else end - start
        source.seek(start)

    def readable(self) -> bool:  # type: ignore[explicit-override]  # typing.override is of Python 3.12
        return True

    def readinto(self, buffer: Any, /) -> int:  # type: ignore[explicit-override]  # as above
        wanted = len(buffer) if self._left is None else min(len(buffer), self._left)
        piece = self._source.read(wanted)
        buffer[: len(piece)] = piece
        if self._left is not None:
            self._left -= len(piece)
        return len(piece)

    def close(self) -> None:  # type: ignore[explicit-override]  # as above
        self._source.close()
        super().close()


def _folder(folder: Path) -> Iterator[Input]:
    found = False
    for entry in files_under(folder):
        found = True
        if isinstance(entry, Note):
            yield Input(path=entry.place or "", place=entry.place or "", note=entry)
            continue
        ours = entry.name.startswith(HISTORY_FILE)  # with its side files, or one that was set aside: no evidence
        yield Input(path=str(entry), place=place_of(entry), code=SKIPPED_FILE, is_ours=ours, in_folder=True)
    if not found:
        place = place_of(folder)
        note = Note(code=UNREADABLE_INPUT, message="the folder is empty", place=place)
        yield Input(path=str(folder), place=place, note=note)


def _remote(path: str) -> Iterator[Input]:
    """Yield the files that an address, a pattern or a folder elsewhere stands for."""
    try:
        system, inside = file_system(path)
        names = sorted(system.glob(inside)) if any(sign in inside for sign in "*?[") else [inside]
        found = [name for one in names for name in (sorted(system.find(one)) if system.isdir(one) else [one])]
    except (OSError, ValueError, UnreadableInputError) as error:
        yield Input(path=path, place=path, note=Note(code=UNREADABLE_INPUT, message=str(error), place=path))
        return
    for name in found:
        whole = system.unstrip_protocol(name)
        yield Input(path=whole, place=whole)
    if not found:
        note = Note(code=UNREADABLE_INPUT, message="no file is there", place=path)
        yield Input(path=path, place=path, note=note)


def file_system(path: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it.

    Raises:
        UnreadableInputError: what reads from there is not installed.
    """
    try:
        url_to_fs: Any = import_module("fsspec.core").url_to_fs  # an extra, for those whose files are elsewhere
    except ImportError as error:
        raise UnreadableInputError(f"{path}: reading from there needs fsspec; install critiqor-otel[dask]") from error
    try:
        found: tuple[Any, str] = url_to_fs(path)
    except (ImportError, TypeError) as error:  # the scheme's own package, or what its address must tell besides
        raise UnreadableInputError(f"{path}: {error}") from error
    return found
