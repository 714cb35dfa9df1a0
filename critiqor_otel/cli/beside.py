"""A verdict as a file beside the session file it was made from; it may be made again at any time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from analyzer.report.json_form import run_document
from analyzer.report.report import RunReport
from critiqor_otel.cli.side import Side
from critiqor_otel.errors import OutputError
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE, beside
from critiqor_otel.spool.whole_file import whole_file

__all__ = ["fail_on_unwritten", "write_beside"]

_NAMED = 5


def write_beside(
    runs: Iterable[RunReport],
    places: Mapping[str, Sequence[str]],
    *,
    side: Side,
    unwritten: list[OutputError] | None = None,
) -> Iterator[RunReport]:
    """Yield the runs; write the verdict of each beside the one session file that bears its id.

    Raises:
        OutputError: a verdict cannot be written, and there is no list to put that into and to go on.
    """
    for run in runs:
        found = places.get(run.diagnosis.run_id, ())
        if len(found) == 1:
            try:
                _write(run, Path(found[0]))
            except OutputError as error:
                if unwritten is None:
                    raise
                unwritten.append(error)
        elif found:
            side.say(f"not written: {len(found)} session files bear the run id {run.diagnosis.run_id}")
        else:
            side.say(
                f"not written: {run.diagnosis.run_id} came from traces; `critiqor-otel sessions` makes a file of it"
            )
        yield run


def fail_on_unwritten(unwritten: Sequence[OutputError]) -> None:
    """Say which verdicts could not be written, when all else is done.

    Raises:
        OutputError: there are some.
    """
    if not unwritten:
        return
    more = f"; and {len(unwritten) - _NAMED} more" if len(unwritten) > _NAMED else ""
    raise OutputError(f"{'; '.join(map(str, unwritten[:_NAMED]))}{more}") from unwritten[0]


def _write(run: RunReport, session_file: Path) -> None:
    with whole_file(session_file.with_name(beside(session_file.name, DIAGNOSIS_FILE))) as file:
        file.write(run_document(run.diagnosis))
