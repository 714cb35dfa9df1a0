"""A file that is whole or not there: written aside, synced to the disk, then renamed into place."""

import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from critiqor_otel.errors import OutputError

__all__ = ["SEALED", "create_once", "make_folder", "name_once", "sync_folder", "whole_file"]

SEALED = 0o444
"""Read-only for everybody."""


@contextmanager
def whole_file(path: Path) -> Generator[IO[bytes]]:
    """Yield a file that replaces `path` when the block ends well, and is gone when it does not.

    A link is followed. Something that is no regular file (a pipe, `/dev/null`) is written to as it stands.

    Raises:
        OutputError: it cannot be written.
    """
    with _reported(path):
        target = path.resolve()
        if target.exists() and not target.is_file():
            with target.open("wb") as direct:
                yield direct
            return
        with _aside(target, _mode(target)) as (file, aside):
            yield file
            _settle(file)
            aside.replace(target)
        sync_folder(target.parent)


def create_once(path: Path, content: bytes) -> bool:
    """Write a file that is not there yet, whole and read-only; return False and leave all as it is when there is one.

    Raises:
        OutputError: it cannot be written.
    """
    with _reported(path):
        with _aside(path, SEALED) as (file, aside):
            file.write(content)
            _settle(file)
            if not name_once(aside, path):
                return False
        sync_folder(path.parent)
        return True


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are not there.

    Raises:
        OutputError: it cannot be made.
    """
    with _reported(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def _reported(path: Path) -> Generator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def _aside(target: Path, mode: int) -> Generator[tuple[IO[bytes], Path]]:
    """Yield a new file in the target's folder; what still bears its own name at the end is removed."""
    number, name = tempfile.mkstemp(prefix=f".{target.name[:60]}.", suffix=".aside", dir=target.parent)
    aside = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            os.fchmod(file.fileno(), mode)
            yield file, aside
    finally:
        aside.unlink(missing_ok=True)


def _settle(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def name_once(aside: Path, path: Path) -> bool:
    """Give the file its name unless that is taken; a hard link does both in one step."""
    try:
        path.hardlink_to(aside)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        aside.rename(path)
    return True


def _mode(target: Path) -> int:
    """Return the mode of the file that is replaced, else what a new file would get."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def sync_folder(folder: Path) -> None:
    """Make a rename outlast a power cut."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
