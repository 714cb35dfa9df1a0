"""A verdict as a file beside the session file it was made from; it may be made again at any time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from analyzer.report.json_form import run_document
from analyzer.report.report import RunReport
from critiqor_otel.cli.side import Side
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE, beside
from critiqor_otel.spool.whole_file import whole_file

__all__ = ["write_beside"]


def write_beside(runs: Iterable[RunReport], places: Mapping[str, Sequence[str]], *, side: Side) -> Iterator[RunReport]:
    """Yield the runs; write the verdict of each beside the one session file that bears its id.

    Raises:
        OutputError: a verdict cannot be written.
    """
    for run in runs:
        found = places.get(run.diagnosis.run_id, ())
        if len(found) == 1:
            _write(run, Path(found[0]))
        elif found:
            side.say(f"not written: {len(found)} session files bear the run id {run.diagnosis.run_id}")
        else:
            side.say(
                f"not written: {run.diagnosis.run_id} came from traces; `critiqor-otel sessions` makes a file of it"
            )
        yield run


def _write(run: RunReport, session_file: Path) -> None:
    with whole_file(session_file.with_name(beside(session_file.name, DIAGNOSIS_FILE))) as file:
        file.write(run_document(run.diagnosis))
