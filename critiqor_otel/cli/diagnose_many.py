"""`diagnose` for inputs that are not to be held at once: the same report, from the parts of a job."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import click

from analyzer.detectors.detector import Options
from analyzer.diagnosis import Profile
from analyzer.report.forms import FORMS, form_named
from analyzer.report.json_form import document_of
from analyzer.report.report import Report
from critiqor_otel.cli.baselining import Baselining
from critiqor_otel.cli.beside import fail_on_unwritten, write_beside
from critiqor_otel.cli.diagnose import PARQUET, Request, Worst, settle, today
from critiqor_otel.cli.input_remarks import emptiness, spare
from critiqor_otel.cli.keeping import Stores, keep_started
from critiqor_otel.cli.many import ManyRuns, OnPart, Product, Wanted, many_runs
from critiqor_otel.cli.parts_output import PartsFolder
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side
from critiqor_otel.errors import OutputError
from critiqor_otel.formats.inputs import Input

__all__ = ["diagnose_many"]


def _line_by_line(lines: Iterable[bytes], _remarks: Report) -> Iterator[bytes]:
    yield from lines


_OF_LINES: Mapping[str, Callable[[Iterable[bytes], Report], Iterator[bytes]]] = {
    "json": document_of,
    "jsonl": _line_by_line,
}
"""Forms that are put together of lines which the workers make."""


def diagnose_many(request: Request, inputs: list[Input], settings: Options, *, side: Side) -> int:
    """Run the job, print the report, and return the exit code.

    Raises:
        click.UsageError: the output can't be what was asked for.
    """
    if request.form not in (*FORMS, PARQUET):
        raise click.UsageError(f"{request.form} is made of an input that fits into memory: give fewer files")
    worst = Worst()
    baseline = Baselining(request.baselining, today=today(), side=side)
    product = _product(request)
    parts = PartsFolder(request.output, resume=request.resume) if product in _IN_PARTS else None
    spare((one.path for one in inputs), request.output)
    wanted = Wanted(profile=Profile(request.profile), options=settings, group_by=request.group_by, product=product)
    on_part = None if parts is None else _IN_PARTS[product](parts)
    with many_runs(inputs, request.scale, wanted, side=side, on_part=on_part) as found:
        if found.product is Product.REPORT:
            _deliver_reports(request, found, worst, baseline, side)
        else:
            worst.add(found.outcome.runs, found.outcome.severities)
            if parts is not None:
                parts.finish()
            else:
                deliver(_OF_LINES[request.form](found.lines(), _report(found)), request.output)
    return settle(request, worst, baseline, emptiness(found.held, found.remarks.notes, request.paths), side=side)


_IN_PARTS: Mapping[Product, Callable[[PartsFolder], OnPart]] = {
    Product.LINES: lambda parts: parts.add_lines,
    Product.TABLES: lambda parts: parts.add_tables,
}


def _product(request: Request) -> Product:
    """Return what the job has to make; what needs each run's report is made of reports."""
    in_parts = request.form == PARQUET or request.is_for_a_folder
    if not in_parts:
        lines = request.form in _OF_LINES and not _needs_reports(request)
        return Product.MERGED_LINES if lines else Product.REPORT
    if _needs_reports(request):
        raise click.UsageError("a product in parts goes without --write, --history and --baseline")
    return Product.TABLES if request.form == PARQUET else Product.LINES


def _needs_reports(request: Request) -> bool:
    return request.write or request.history is not None or request.baseline is not None or request.update_baseline


def _deliver_reports(request: Request, found: ManyRuns, worst: Worst, baseline: Baselining, side: Side) -> None:
    watched = worst.watch(baseline.mark(found.reports()))
    unwritten: list[OutputError] = []
    told = write_beside(watched, found.places, side=side, unwritten=unwritten) if request.write else watched
    kept = keep_started(told, found.starts, Stores(found.places, request.paths, request.history), side=side)
    report = Report(runs=kept, skipped=found.remarks.skipped, notes=found.remarks.notes)
    deliver(form_named(request.form)(report, request.look), request.output)
    fail_on_unwritten(unwritten)


def _report(found: ManyRuns) -> Report:
    return Report(runs=(), skipped=found.remarks.skipped, notes=found.remarks.notes)
