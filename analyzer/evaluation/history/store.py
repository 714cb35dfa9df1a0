"""The history of evaluations, agents and runs, in one SQLite file that many processes may use at once."""

import sqlite3
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from analyzer.evaluation.diagnosed import RunSummary, record_of_diagnosis
from analyzer.evaluation.history.query import RunQuery
from analyzer.evaluation.history.rows import agent_row, bounded_text, record_row, run_row
from analyzer.evaluation.history.schema import alone_in, open_store, told, writing
from analyzer.evaluation.lines import HistoryWarning
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.roster import AgentProfile
from analyzer.session.jsontext import read_json

__all__ = ["HISTORY_FILE", "Diagnosed", "History"]

HISTORY_FILE = "history.sqlite"
"""The store's name in a folder of runs."""

_ADD_RECORD = "INSERT INTO records (run_id, agent_id, at, trust, source, body) VALUES (?, ?, ?, ?, ?, ?)"
_PUT_AGENT = """INSERT INTO agents (agent_id, body) VALUES (?, ?)
    ON CONFLICT (agent_id) DO UPDATE SET body = excluded.body"""
_MEET_AGENT = "INSERT INTO agents (agent_id, body) VALUES (?, ?) ON CONFLICT (agent_id) DO NOTHING"

# Diagnoses are gathered in tables of the connection's own first: whoever makes them may take long, and the store is
# only locked while they are copied.
_STAGE = (
    "CREATE TEMP TABLE staged_records (run_id PRIMARY KEY, agent_id, at, trust, source, body)",
    "CREATE TEMP TABLE staged_runs AS SELECT * FROM main.runs WHERE false",
    "CREATE UNIQUE INDEX temp.staged_run ON staged_runs (run_id)",
)
_STAGE_RECORD = "INSERT OR REPLACE INTO staged_records VALUES (?, ?, ?, ?, ?, ?)"
_STAGE_RUN = "INSERT OR REPLACE INTO staged_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET = ("DELETE FROM runs", "DELETE FROM records WHERE source = 'diagnosis'")
_PUT_STAGED = (
    """DELETE FROM records WHERE source = 'diagnosis' AND run_id IN (SELECT run_id FROM staged_runs)
        AND run_id NOT IN (SELECT run_id FROM staged_records)""",
    """INSERT INTO records (run_id, agent_id, at, trust, source, body)
        SELECT run_id, agent_id, at, trust, source, body FROM staged_records WHERE true ORDER BY rowid
        ON CONFLICT (run_id) WHERE source = 'diagnosis' DO UPDATE SET
        agent_id = excluded.agent_id, at = excluded.at, trust = excluded.trust, body = excluded.body""",
    "INSERT OR REPLACE INTO runs SELECT * FROM staged_runs",
)
_UNSTAGE = ("DROP TABLE IF EXISTS temp.staged_records", "DROP TABLE IF EXISTS temp.staged_runs")


class Diagnosed(NamedTuple):
    """A run's diagnosis as it comes to the history."""

    diagnosis: Mapping[str, Any]
    """The run object of `critiqor.diagnosis.v1`."""
    timestamp: str = ""
    """When the run started; used where the diagnosis has no time of its own."""
    path: str | None = None
    """The file it was read from."""


class History:
    """An open history store; a context manager. One object serves one thread."""

    def __init__(self, path: str | Path, *, wait_s: float = 30.0, folder_is_locked: bool = False) -> None:
        """Open the store, made with its folder when there is none; wait up to `wait_s` seconds for other writers.

        `folder_is_locked`: the caller is in `alone_in` of the store's folder, as `visit` is.

        Raises:
            HistoryError: it can't be opened, or a newer build wrote it.
            HistoryDamagedError: the file is no store.
        """
        self.path = Path(path)
        self._connection = open_store(self.path, wait_s=wait_s, folder_is_locked=folder_is_locked)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @classmethod
    @contextmanager
    def visit(cls, path: str | Path) -> Generator[Self]:
        """Open the store for one short piece of work; visitors queue, which costs far less than meeting in it."""
        with alone_in(Path(path).parent), cls(path, folder_is_locked=True) as history:
            yield history

    def close(self) -> None:
        """Close the store; what was saved is kept."""
        self._connection.close()

    def save(self, record: EvaluationRecord) -> None:
        """Keep an evaluation."""
        self.save_all((record,))

    def save_all(self, records: Iterable[EvaluationRecord]) -> None:
        """Keep evaluations, all or none."""
        with self._writing() as connection:
            connection.executemany(_ADD_RECORD, (record_row(record, "evaluation") for record in records))

    def add_missing(self, records: Iterable[EvaluationRecord]) -> int:
        """Keep the evaluations that the store does not hold word for word, and return how many those are."""
        added = 0
        with self._writing() as connection:
            for record in records:
                row = record_row(record, "evaluation")
                if not _found(connection, "SELECT 1 FROM records WHERE run_id = ? AND body = ?", (row[0], row[-1])):
                    connection.execute(_ADD_RECORD, row)
                    added += 1
        return added

    def save_diagnoses(self, runs: Iterable[Diagnosed], *, afresh: bool = False) -> int:
        """Keep the runs and their records, in place of earlier diagnoses of the same runs; return how many they are.

        All are kept or none, and agents that nobody registered are registered. A run with too little evidence for a
        trust score is listed, and is no evaluation. `afresh` forgets all other diagnosed runs with it.
        """
        count = 0
        agents: dict[str, AgentProfile] = {}
        with told(self.path):
            self._execute(_UNSTAGE + _STAGE)
            for run in runs:
                record = record_of_diagnosis(run.diagnosis, timestamp=run.timestamp)
                summary = RunSummary.of_diagnosis(run.diagnosis, timestamp=run.timestamp, path=run.path)
                if summary.trust_score is not None:
                    self._connection.execute(_STAGE_RECORD, record_row(record, "diagnosis"))
                self._connection.execute(_STAGE_RUN, run_row(summary))
                agents.setdefault(summary.agent_id, AgentProfile(summary.agent_id))
                count += 1
            with writing(self._connection):
                self._execute((*(_FORGET if afresh else ()), *_PUT_STAGED))
                self._connection.executemany(_MEET_AGENT, map(agent_row, agents.values()))
            self._execute(_UNSTAGE)
        return count

    def records(self, agent_id: str | None = None, limit: int | None = None) -> list[EvaluationRecord]:
        """Return the evaluations by time, the oldest first: of one agent or all, the last `limit` or all (None, 0).

        Those whose time can't be read come first, in the order in which they were saved.
        """
        where, values = ("WHERE agent_id = ?", [bounded_text(agent_id)]) if agent_id is not None else ("", [])
        query = f"SELECT body FROM records {where} ORDER BY at DESC, seq DESC LIMIT ?"  # noqa: S608  # both texts are ours
        rows = self._read(query, (*values, limit if limit is not None and limit > 0 else -1))
        return [EvaluationRecord.from_dict(body) for body in self._bodies(reversed(rows))]

    def record(self, run_id: str) -> EvaluationRecord | None:
        """Return the newest evaluation of a run, the one saved last among those of one time; None without any."""
        query = "SELECT body FROM records WHERE run_id = ? ORDER BY at DESC, seq DESC LIMIT 1"
        found = [EvaluationRecord.from_dict(body) for body in self._bodies(self._read(query, (bounded_text(run_id),)))]
        return found[0] if found else None

    def runs(self, query: RunQuery | None = None) -> list[RunSummary]:
        """Return the diagnosed runs that fit a query, all by time without one."""
        rows = self._read(*(query or RunQuery()).statement())
        return [RunSummary.from_dict(body) for body in self._bodies(rows)]

    def register(self, profile: AgentProfile) -> None:
        """Keep a profile in place of an earlier one of the same id."""
        with self._writing() as connection:
            connection.execute(_PUT_AGENT, agent_row(profile))

    def submit(self, record: EvaluationRecord) -> None:
        """Keep a run of the agent it names."""
        self.save(record)

    def knows(self, agent_id: str) -> bool:
        """Return whether an agent of that id is registered."""
        return bool(self._read("SELECT 1 FROM agents WHERE agent_id = ?", (bounded_text(agent_id),)))

    def profiles(self) -> list[AgentProfile]:
        """Return the agents in the order in which they were first registered."""
        rows = self._read("SELECT body FROM agents ORDER BY seq", ())
        return [AgentProfile.from_dict(body) for body in self._bodies(rows)]

    def trust_scores(self) -> dict[str, list[int]]:
        """Return the trust scores of all records by agent id, the oldest first."""
        found: dict[str, list[int]] = {}
        for agent_id, trust in self._read("SELECT agent_id, trust FROM records ORDER BY at, seq", ()):
            found.setdefault(agent_id, []).append(trust)
        return found

    def check(self) -> None:
        """Look at every page of the file.

        Raises:
            HistoryDamagedError: some of it is damaged.
        """
        found = self._read("PRAGMA quick_check(1)", ())
        if found != [("ok",)]:
            with told(self.path):
                raise sqlite3.DatabaseError(found[0][0] if found else "no answer to a check")

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with told(self.path), writing(self._connection) as connection:
            yield connection

    def _execute(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self._connection.execute(statement)

    def _read(self, query: str, values: Iterable[Any]) -> list[Any]:
        with told(self.path):
            return self._connection.execute(query, tuple(values)).fetchall()

    def _bodies(self, rows: Iterable[Any]) -> Iterator[Any]:
        for row in rows:
            try:
                yield read_json(row[0].encode())[0]
            except ValueError as error:
                warnings.warn(
                    f"{self.path}: an entry is no JSON and was left out: {error}", HistoryWarning, stacklevel=4
                )


def _found(connection: sqlite3.Connection, query: str, values: tuple[Any, ...]) -> bool:
    return connection.execute(query, values).fetchone() is not None
