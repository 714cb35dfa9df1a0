"""`--baseline`: failures that are known already are let pass, and only new ones make the command fail."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.baseline import Baseline, read_baseline, renewed, written_baseline
from analyzer.cause import FailureCause
from analyzer.errors import BaselineError
from analyzer.report.report import RunReport
from critiqor_otel.cli import options
from critiqor_otel.cli.side import Side
from critiqor_otel.spool.whole_file import whole_file

__all__ = ["BaselineRequest", "Baselining", "baseline_options"]

_USUAL_FILE = "critiqor-baseline.json"


class BaselineRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    file: str | None = None
    update: bool = False
    reason: str = ""
    expires: date | None = None


class Baselining:
    """Marks the runs' known failures, and makes the baseline anew where that is asked for."""

    def __init__(self, request: BaselineRequest, *, today: date, side: Side) -> None:
        """Read the baseline.

        Raises:
            click.UsageError: the file can't be read or is no baseline, or a new entry is described and none is made.
        """
        if not request.update and (request.reason or request.expires):
            raise click.UsageError("--baseline-reason and --baseline-expires go with --update-baseline.")
        if request.expires is not None and request.expires < today:
            side.say(f"--baseline-expires {request.expires} is past: what is taken in counts again at once")
        self._request = request
        self._today = today
        self._side = side
        self._file = Path(request.file or _USUAL_FILE) if request.file or request.update else None
        self._old = Baseline() if self._file is None else self._read(self._file)
        self._known = self._old.known(today)
        self._found: dict[str, FailureCause] = {}
        self._known_found = 0

    def mark(self, runs: Iterable[RunReport]) -> Iterator[RunReport]:
        """Yield the runs, each with those of its failures that are known."""
        if self._file is None:
            yield from runs
            return
        for run in runs:
            causes = run.diagnosis.failure_causes
            if self._request.update:
                self._found |= {cause.fingerprint: cause for cause in causes if cause.fingerprint not in self._found}
            known = {
                cause.fingerprint: self._known.get(cause.fingerprint, self._request.reason or "known")
                for cause in causes
                if cause.fingerprint and (self._request.update or cause.fingerprint in self._known)
            }
            self._known_found += sum(cause.fingerprint in known for cause in causes)
            yield msgspec.structs.replace(run, known=known, has_baseline=True)

    def finish(self) -> None:
        """Tell what was let pass and what has expired; write the baseline where that is asked for.

        Raises:
            OutputError: it can't be written.
        """
        if self._file is None:
            return
        if self._request.update:
            self._update(self._file)
            return
        if self._known_found:
            self._side.say(f"{_failures(self._known_found)} that {self._file} knows let pass")
        for one in self._old.expired(self._today):
            self._side.say(f"{self._file}: {one.type} {one.fingerprint} expired on {one.expires} and counts again")

    def _update(self, file: Path) -> None:
        request = self._request
        new = renewed(
            self._old, self._found.values(), today=self._today, reason=request.reason, expires=request.expires
        )
        before = {one.fingerprint for one in self._old.failures}
        after = {one.fingerprint for one in new.failures}
        with whole_file(file) as out:
            out.write(written_baseline(new))
        gone = len(before - after)
        self._side.say(
            f"{file} lets {_failures(len(after))} pass from now on: {len(after & before)} that it knew, "
            f"{len(after - before)} new{f'; {gone} no longer found, taken out' if gone else ''}"
        )

    def _read(self, file: Path) -> Baseline:
        try:
            return read_baseline(file.read_bytes())
        except FileNotFoundError as error:
            if self._request.update:
                return Baseline()
            raise click.UsageError(f"{file} is not there; `--update-baseline` makes it") from error
        except OSError as error:
            raise click.UsageError(f"{file} can't be read: {error.strerror}") from error
        except BaselineError as error:
            raise click.UsageError(f"{file}: {error}") from error


def _failures(count: int) -> str:
    return f"{count} failure{'' if count == 1 else 's'}"


def baseline_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a baseline to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--baseline",
        metavar="FILE",
        help="Let pass the failures that this file knows by their fingerprints; only new ones count for --fail-on.",
    ),
    click.option(
        "--update-baseline",
        is_flag=True,
        help=f"Write the failures found now into the baseline (default {_USUAL_FILE}); known ones keep their reason.",
    ),
    click.option(
        "--baseline-reason", type=options.TEXT, metavar="TEXT", default="", help="Why the new entries are let pass."
    ),
    click.option(
        "--baseline-expires",
        type=click.DateTime(["%Y-%m-%d"]),
        metavar="DATE",
        help="The last day on which the new entries are let pass.",
    ),
)
