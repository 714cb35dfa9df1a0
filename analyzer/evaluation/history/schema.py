"""What the history store holds, how it is opened, and how an older store becomes a newer one."""

import fcntl
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from analyzer.errors import HistoryDamagedError, HistoryError

__all__ = ["VERSION", "alone_in", "open_store", "told", "writing"]

# Each migration is a tuple of statements that takes a store from the version of its position to the next. `at` is
# nanoseconds since the epoch, the smallest integer where a time can't be read; `body` is the whole as JSON.
_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE records (
            seq INTEGER PRIMARY KEY, run_id TEXT NOT NULL, agent_id TEXT NOT NULL, at INTEGER NOT NULL,
            trust INTEGER NOT NULL, source TEXT NOT NULL CHECK (source IN ('evaluation', 'diagnosis')),
            body TEXT NOT NULL)""",
        "CREATE UNIQUE INDEX one_diagnosis_a_run ON records (run_id) WHERE source = 'diagnosis'",
        "CREATE INDEX records_by_run ON records (run_id)",
        "CREATE INDEX records_by_time ON records (at, seq)",
        "CREATE INDEX records_by_agent ON records (agent_id, at, seq)",
        "CREATE TABLE agents (seq INTEGER PRIMARY KEY, agent_id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)",
        """CREATE TABLE runs (
            run_id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, at INTEGER NOT NULL, status TEXT, trust_score INTEGER,
            readiness TEXT, primary_failure TEXT, exit_code INTEGER, latency REAL, tokens INTEGER, body TEXT NOT NULL
            ) WITHOUT ROWID""",
    ),
)

VERSION = len(_MIGRATIONS)
"""What `user_version` says of a store of this build."""


def open_store(path: Path, *, wait_s: float, folder_is_locked: bool = False) -> sqlite3.Connection:
    """Return a connection to the store at a path, made or brought up to date where needed.

    The log is written ahead, so readers and one writer don't wait for each other; other writers wait up to `wait_s`
    seconds. A process that is killed loses at most the transaction it is in. `folder_is_locked`: the caller is in
    `alone_in` of the store's folder.

    Raises:
        HistoryError: it can't be opened, or a newer build wrote it.
        HistoryDamagedError: the file is no store.
    """
    with told(path):
        _make(path.parent)
        connection = sqlite3.connect(path, timeout=wait_s, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            if not _is_ready(connection, path):
                with nullcontext() if folder_is_locked else alone_in(path.parent):
                    _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def alone_in(folder: Path) -> Generator[None]:
    """Let one process at a time into the block; the folder is made where it is missing.

    SQLite gives up at once on two that switch a new file to a write-ahead log, and lets those that open and close a
    store in turns sleep for much longer than they work. Here they queue, and a process that is killed leaves the queue.

    Raises:
        HistoryError: the folder can't be made.
    """
    _make(folder)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def told(path: Path) -> Generator[None]:
    """Turn what SQLite raises in the block into this package's errors, which name the file and what to do."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
        raise HistoryError(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise HistoryDamagedError(
            f"{path} is damaged or no history store ({error}); rebuild it from the folder of its runs"
        ) from error


@contextmanager
def writing(connection: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    """Make the block one transaction: all of it is kept, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HistoryError(f"{folder}: {error.strerror}") from error


def _is_ready(connection: sqlite3.Connection, path: Path) -> bool:
    version = _version(connection)
    if version > VERSION:
        raise HistoryError(f"{path} is of version {version}, this build reads up to {VERSION}")
    return version == VERSION and connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    if _is_ready(connection, path):  # somebody else was faster
        return
    connection.execute("PRAGMA journal_mode = WAL")
    with writing(connection):
        for number, statements in enumerate(_MIGRATIONS[_version(connection) :], _version(connection) + 1):
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
