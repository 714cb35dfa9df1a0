"""The verdicts of a diagnosis are kept in a history: that of the folder where their runs lie, or one that is named."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from analyzer.causality.decisive import RunRoots
from analyzer.causality.graph import RunGraph
from analyzer.errors import HistoryError
from analyzer.report.report import RunReport
from analyzer.session.instants import format_instant
from analyzer.session.model import Session
from critiqor_otel.cli.side import Side
from critiqor_otel.errors import OutputError
from critiqor_otel.formats.inputs import HISTORY_FILE
from critiqor_otel.spool.run_files import SESSION_FILE

__all__ = ["Stores", "keep", "keep_started", "start_of"]

_AT_ONCE = 500  # verdicts a transaction: few enough to hold, enough to be quick
_Verdict = tuple[dict[str, Any], str, str | None]
"""A run's verdict, when it started, and its session file."""
_NO_GRAPH = RunGraph()  # most of a verdict, and nothing that a history holds


class Stores:
    """Which history a run belongs to."""

    def __init__(self, places: Mapping[str, Sequence[str]], folders: Sequence[str], named: str | None = None) -> None:
        """Take the session files by run id, the paths that were given, and the one store that takes all, if any.

        Below a folder that was given, `<runs>/history.sqlite` takes `<runs>/<run>/session.json`.
        """
        self.places = places
        self.named = None if named is None else Path(named)
        self._given = [Path(folder).resolve() for folder in folders if Path(folder).is_dir()]
        self._found: dict[Path, Path | None] = {}

    def of(self, run_id: str) -> Path | None:
        """Return the store of a run; None when it lies in no folder of runs."""
        if self.named is not None:
            return self.named
        places = self.places.get(run_id, ())
        file = Path(places[0]) if places else None
        if file is None or file.name != SESSION_FILE:
            return None
        runs = file.parent.parent
        if runs not in self._found:
            inside = any(runs.resolve().is_relative_to(folder) for folder in self._given)
            self._found[runs] = runs / HISTORY_FILE if inside else None
        return self._found[runs]


def keep(runs: Iterable[RunReport], sessions: Iterable[Session], stores: Stores, *, side: Side) -> Iterator[RunReport]:
    """Yield the verdicts, and keep each in its history; the sessions say when a run started.

    Raises:
        OutputError: the history that was named can't be written.
    """
    return keep_started(runs, {session.run_id: start_of(session) for session in sessions}, stores, side=side)


def keep_started(
    runs: Iterable[RunReport], starts: Mapping[str, str], stores: Stores, *, side: Side
) -> Iterator[RunReport]:
    """Yield the verdicts, and keep each in its history; `starts` need not know a run before it is reached.

    A history that was not named and can't be written is told of, and costs nothing else.

    Raises:
        OutputError: the history that was named can't be written.
    """
    waiting: dict[Path, list[_Verdict]] = {}
    broken: set[Path] = set()
    for run in runs:
        run_id = run.diagnosis.run_id
        store = stores.of(run_id)
        if store is not None and store not in broken:
            verdicts = waiting.setdefault(store, [])
            verdicts.append(_diagnosed(run, starts.get(run_id, ""), stores.places.get(run_id, ())))
            if len(verdicts) >= _AT_ONCE and not _save(store, waiting.pop(store), stores, side):
                broken.add(store)
        yield run
    for store, verdicts in waiting.items():
        _save(store, verdicts, stores, side)


def _save(store: Path, verdicts: list[_Verdict], stores: Stores, side: Side) -> bool:
    from analyzer.evaluation.history.store import Diagnosed, History  # noqa: PLC0415  # most diagnoses keep nothing

    try:
        with History.visit(store) as history:
            history.save_diagnoses([Diagnosed(*verdict) for verdict in verdicts])
    except HistoryError as error:
        if stores.named is not None:
            raise OutputError(f"the history was not written: {error}") from error
        side.say(f"the history was not written: {error}")
        return False
    return True


def _diagnosed(run: RunReport, start: str, places: Sequence[str]) -> _Verdict:
    roots = RunRoots(run.diagnosis.roots.primary)  # a history asks for the one root of a run
    verdict = structs.replace(run.diagnosis, causal_graph=_NO_GRAPH, roots=roots).to_dict()
    return verdict, start, places[0] if places else None


def start_of(session: Session) -> str:
    """Return when a run started, as its session file says; empty when no event tells a time."""
    times = [event.time_ns for event in session.events if event.time_ns is not None]
    return str(format_instant(min(times))) if times else ""
