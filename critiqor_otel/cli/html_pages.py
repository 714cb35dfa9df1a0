"""Where the pages of a report go: one file for one run; for several an index and a page each, in a folder."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from analyzer.profile import Profile
from analyzer.report.html.index import IndexRow, index_page, row_of, started
from analyzer.report.html.page import Around, run_page
from analyzer.report.report import Report, RunReport
from analyzer.session.model import Session
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver
from critiqor_otel.cli.side import Side
from critiqor_otel.spool.run_folder import folder_of
from critiqor_otel.spool.whole_file import make_folder

__all__ = ["PagesRequest", "deliver_pages"]

_INDEX_FILE = "index.html"
_FILES = (".html", ".htm")


class PagesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    output: str
    profile: Profile = Profile.STANDARD
    jaeger: str | None = None


def deliver_pages(report: Report, sessions: Sequence[Session], request: PagesRequest, *, side: Side) -> None:
    """Write the page of the one run to a file, or an index and a page a run to a folder, the index last.

    The index of several runs at `report.html` has their pages in `report-runs/`; on standard output it has none.

    Raises:
        OutputError: a place cannot be written to.
        ReaderGoneError: nobody reads standard output any more.
    """
    by_id = {session.run_id: session for session in sessions}
    output = request.output
    to_file = output == STANDARD_OUTPUT or (Path(output).suffix.lower() in _FILES and not Path(output).is_dir())
    if to_file and len(by_id) == 1:
        deliver((_page(run, by_id[run.diagnosis.run_id], request) for run in report.runs), output)
        return
    pages = _folder_of_pages(output, to_file=to_file)
    rows = list(_written(report.runs, by_id, pages, request))
    notes = (*report.skipped, *report.notes)
    if pages is None:
        side.say(f"the list of {len(rows)} runs; their pages are written where --output names a folder or a file")
    deliver([index_page(rows, notes=notes)], output if to_file else str(Path(output) / _INDEX_FILE))


def _folder_of_pages(output: str, *, to_file: bool) -> Path | None:
    if output == STANDARD_OUTPUT:
        return None
    place = Path(output)
    return place.with_name(f"{place.stem}-runs") if to_file else place / "runs"


def _written(
    runs: Iterable[RunReport], sessions: Mapping[str, Session], pages: Path | None, request: PagesRequest
) -> Iterable[IndexRow]:
    for run in runs:
        session = sessions[run.diagnosis.run_id]
        link = None
        if pages is not None:
            make_folder(pages)
            name = f"{folder_of(session.run_id)}.html"
            deliver([_page(run, session, request, index=_back_to(request.output, pages))], str(pages / name))
            link = f"{pages.name}/{name}".replace("%", "%25")
        yield row_of(run.diagnosis, link=link, started=started(session))


def _back_to(output: str, pages: Path) -> str:
    """Return the address of the index as the pages see it."""
    return f"../{_INDEX_FILE if pages.name == 'runs' else Path(output).name}"


def _page(run: RunReport, session: Session, request: PagesRequest, **around: Any) -> bytes:
    return run_page(run, session, profile=request.profile, around=Around(jaeger=request.jaeger, **around))
