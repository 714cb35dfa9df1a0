"""The folder where a job keeps what is done, so that a job that was killed goes on where it stopped."""

import errno
import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from critiqor_otel.engine.store import Store
from critiqor_otel.errors import WorkFolderError
from critiqor_otel.formats.inputs import Input, is_remote, size_of

__all__ = ["Plan", "fingerprint", "state_of", "usual_folder", "work_folder"]

_PLAN = "plan.json"
_LOCK = "lock"
_OURS_ALONE = 0o700
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


class Plan(msgspec.Struct, frozen=True):
    """What must be the same for work to be gone on with."""

    version: str
    """Of this package."""
    request: str
    """What was asked for: paths and rules."""
    inputs: str
    """The files, their sizes and when they were written."""
    partitions: int


def fingerprint(*parts: Any) -> str:
    """Return the same short word for the same values."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()


def state_of(inputs: Sequence[Input]) -> str:
    """Return a word for the files as they are now."""
    return fingerprint(*((one.path, one.start, one.end, *_state(one.path)) for one in inputs))


def usual_folder(request: str) -> str:
    """Return where the work of a request lies when its user names no folder; another one while that is in use.

    Raises:
        WorkFolderError: somebody else was there first.
    """
    ours = Path(tempfile.gettempdir()) / f"critiqor-otel-{os.getuid()}"
    with _reported(ours):
        _make_ours(ours)
    return str(ours / (f"{request}-{os.getpid()}" if _in_use(ours / request) else request))


def _in_use(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def work_folder(address: str, plan: Plan, *, resume: bool) -> Generator[tuple[Store, Plan]]:
    """Yield the store for a plan, and the plan to follow; the folder is removed when the block ends well.

    With `resume`, what is in the folder is gone on with, in as many partitions as it was begun with.

    Raises:
        WorkFolderError: the folder holds the work of another request, or is in use; or the inputs have changed.
    """
    store = Store(address)
    _leave_alone_what_is_not_ours(store)
    with _locked(store):
        begun = _begun(store, plan) if resume else None
        if begun is None:
            _leave_alone_what_is_not_ours(store)
            _clear(store)
            store.write(_PLAN, msgspec.json.encode(plan))
        yield store, plan if begun is None else begun
        store.clear()


def _begun(store: Store, plan: Plan) -> Plan | None:
    begun = _plan_in(store)
    if begun is None:
        return None
    if (begun.version, begun.request) != (plan.version, plan.request):
        raise WorkFolderError(f"{store.address} holds the work of another request; leave out --resume to begin anew")
    if begun.inputs != plan.inputs:
        raise WorkFolderError("the input changed since this work began; leave out --resume to begin anew")
    return begun


def _plan_in(store: Store) -> Plan | None:
    data = store.read(_PLAN)
    try:
        return None if data is None else msgspec.json.decode(data, type=Plan)
    except msgspec.DecodeError as error:
        message = f"{store.address} holds no work of ours: {_PLAN}: {error}; name another folder for --work"
        raise WorkFolderError(message) from error


def _leave_alone_what_is_not_ours(store: Store) -> None:
    """Go on with a folder that is empty, or holds the work of an earlier job.

    Raises:
        WorkFolderError: there is something else in it.
    """
    if store.names() - {_LOCK} and _plan_in(store) is None:
        raise WorkFolderError(f"{store.address} holds files that are no work of ours; name another folder for --work")


def _clear(store: Store) -> None:
    for name in sorted(store.names() - {_LOCK}):
        store.remove(name)


@contextmanager
def _locked(store: Store) -> Generator[None]:
    """Keep the folder to ourselves and to this job, where it is a folder of this machine."""
    if is_remote(store.address):
        yield
        return
    folder = Path(store.address)
    with _reported(folder):
        _make_ours(folder)
        lock = (folder / _LOCK).open("wb")
    with lock:
        with _reported(folder):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            yield
        except OSError as error:  # what the job itself ran into is not the folder's fault, but for a disk that is full
            if error.errno not in _FULL:
                raise
            raise WorkFolderError(f"{folder} can't be written: {error.strerror or error}") from error


@contextmanager
def _reported(folder: Path) -> Generator[None]:
    try:
        yield
    except BlockingIOError as error:
        raise WorkFolderError(f"{folder} is in use by another job") from error
    except OSError as error:
        raise WorkFolderError(f"{folder} can't be used: {error.strerror or error}") from error


def _make_ours(folder: Path) -> None:
    """Make a folder, or see to it that it is ours alone: what lies in it is believed."""
    folder.mkdir(parents=True, exist_ok=True, mode=_OURS_ALONE)
    status = folder.stat()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise WorkFolderError(f"{folder} can be written by others; name another folder for --work")


def _state(path: str) -> tuple[int, int]:
    if is_remote(path):
        return size_of(path), 0
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return 0, 0
    return status.st_size, status.st_mtime_ns
