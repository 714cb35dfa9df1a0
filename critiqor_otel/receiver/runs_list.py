"""Which runs lie in a folder, and what is new since one last asked? Reads what changed, and nothing else."""

import re
from pathlib import Path
from urllib.parse import quote

import msgspec

from analyzer.report.html.index import IndexRow, row_of_file
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE, SESSION_FILE
from critiqor_otel.spool.run_folder import run_id_of

__all__ = ["UNJUDGED", "RunsList"]

UNJUDGED = "unjudged"
"""The readiness of a run that has no verdict beside it yet."""

_CREATED = re.compile(rb'"created_at"\s*:\s*"([^"\\]{1,40})"')  # it stands near the beginning
_BEGINNING = 4096
_CONTINUATION = "~"


class RunsList:
    """The runs of a folder; each change of a row gets the next number. For one thread at a time."""

    def __init__(self, runs: Path) -> None:
        """Begin with no run known."""
        self._runs = runs
        self._rows: dict[str, tuple[int, IndexRow]] = {}
        self._judged: dict[str, int] = {}
        self._waiting: set[str] = set()
        self._parts: dict[str, list[str]] = {}
        self._seen: list[int] = []
        self.version = 0

    def __contains__(self, name: str) -> bool:
        """Tell whether a run lies in the folder of that name; only such names are ever made a path of."""
        return name in self._rows

    def changed(self, since: int) -> list[IndexRow]:
        """Look at the folder, and return the rows that changed after the version `since`, by the name of their folder.

        A `since` that was never reached is one of an earlier process: all rows are new to who asks.
        """
        self._look()
        first = since if since <= self.version else -1
        return [row for _, (version, row) in sorted(self._rows.items()) if version > first]

    def _look(self) -> None:
        changed = self._changed_at()
        # Twice the same: a run that came in the very moment of the last look has been seen since.
        if self._seen != [changed, changed]:
            self._seen = [*self._seen[-1:], changed]
            parts = self._parts_by_run()
            self._waiting.update(name for name, found in parts.items() if found != self._parts.get(name))
            self._parts = parts
        for name in sorted(self._waiting):
            self._read(name)

    def _changed_at(self) -> int:
        try:
            return self._runs.stat().st_mtime_ns
        except OSError:
            return -1

    def _parts_by_run(self) -> dict[str, list[str]]:
        """Return the folders of each run: its own and those of its continuations."""
        found: dict[str, list[str]] = {}
        try:
            names = sorted(path.name for path in self._runs.iterdir() if path.name[0] != "." and path.is_dir())
        except OSError:
            return {}
        for name in names:
            found.setdefault(name.partition(_CONTINUATION)[0], []).append(name)
        return found

    def _read(self, name: str) -> None:
        """Read the row of a run, if its session or its verdict is new."""
        folder = self._runs / name
        judged = _mtime(folder / DIAGNOSIS_FILE)
        if judged is None and (name in self._rows or _mtime(folder / SESSION_FILE) is None):
            return
        if judged is not None and self._judged.get(name) == judged:
            parts = self._parts.get(name, ())
            if all((_mtime(self._runs / part / SESSION_FILE) or 0) <= judged for part in parts):
                self._waiting.discard(name)
            return
        self.version += 1
        self._rows[name] = self.version, _row(folder, has_verdict=judged is not None)
        if judged is not None:
            self._judged[name] = judged


def _row(folder: Path, *, has_verdict: bool) -> IndexRow:
    link = f"runs/{quote(folder.name, safe='')}"
    run_id = run_id_of(folder.name) or folder.name
    unjudged = IndexRow(run_id=run_id, link=link, readiness=UNJUDGED, started=_started(folder / SESSION_FILE))
    if not has_verdict:
        return unjudged
    try:
        return row_of_file((folder / DIAGNOSIS_FILE).read_bytes(), link=link, started=unjudged.started)
    except (OSError, msgspec.DecodeError):
        return unjudged


def _started(session_file: Path) -> str | None:
    try:
        with session_file.open("rb") as file:
            found = _CREATED.search(file.read(_BEGINNING))
    except OSError:
        return None
    return None if found is None else found[1].decode("ascii", "replace")


def _mtime(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
