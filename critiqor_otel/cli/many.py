"""Inputs too large for one reading: a job in parts, on this machine or on a cluster, that says how far it is."""

import pickle
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from analyzer.detectors.detector import Options
from analyzer.diagnosis import Profile
from analyzer.report.report import RunReport
from critiqor_otel.cli.input_remarks import Held, Remarks, remarks_on, tell_remarks
from critiqor_otel.cli.keeping import start_of
from critiqor_otel.cli.scale import Scale, bytes_in
from critiqor_otel.cli.side import Side
from critiqor_otel.engine.job import Job, Outcome, Survey
from critiqor_otel.engine.lines import line_of
from critiqor_otel.engine.local import judged
from critiqor_otel.engine.parts import in_parts
from critiqor_otel.engine.reducing import Judged, Purpose, Reduced
from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Engine
from critiqor_otel.engine.work_folder import Plan, fingerprint, state_of, usual_folder, work_folder
from critiqor_otel.engine.workers import ProcessEngine
from critiqor_otel.errors import OutputError
from critiqor_otel.formats.inputs import Input
from critiqor_otel.reconstruct.grouping import GroupBy

__all__ = ["ManyRuns", "OnPart", "Product", "Wanted", "many_runs"]

_LEAST_PARTITION, _LARGEST_PARTITION = 2 << 20, 13 << 20  # bytes of input
_USUAL_PARTITIONS, _MOST_PARTITIONS = 96, 4096


OnPart = Callable[[Store, Reduced], None]


class ManyRuns:
    """The runs of a job, read from its work folder one after another."""

    def __init__(self, job: Job, store: Store, survey: Survey, outcome: Outcome, product: "Product") -> None:
        """Take what the job found."""
        self._job = job
        self.store = store
        """Where the products lie."""
        self.product = product
        self.outcome = outcome
        self.held = Held(survey.spans, survey.logs, survey.passed_over)
        self.remarks: Remarks = remarks_on((*survey.notes, *outcome.notes), outcome.silent_traces)
        self.places: dict[str, tuple[str, ...]] = {}
        """The session files of the runs that were read so far, by run id."""
        self.starts: dict[str, str] = {}
        """When they started."""

    def lines(self) -> Iterator[bytes]:
        """Yield each run as a line of JSON, where the job made lines."""
        return self._job.products(self.outcome)

    def reports(self) -> Iterator[RunReport]:
        """Yield each run's report, where the job made reports."""
        for data in self._job.products(self.outcome):
            report, start, places = pickle.loads(data)  # noqa: S301  # written by `_report`, in a folder of our own
            self.starts[report.diagnosis.run_id] = start
            if places:
                self.places[report.diagnosis.run_id] = places
            yield report


class Product(StrEnum):
    """What a job leaves of a run."""

    MERGED_LINES = "merged lines"
    """A line of JSON, to be merged into one output; session files have a history, which lines can't fill."""
    LINES = "lines"
    REPORT = "report"
    TABLES = "tables"
    """Rows of Parquet tables, and nothing else."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be made of the runs."""

    profile: Profile
    options: Options
    group_by: str | None
    product: Product
    """`MERGED_LINES` gives way to reports where session files are among the input."""


@contextmanager
def many_runs(
    inputs: list[Input], scale: Scale, wanted: Wanted, *, side: Side, on_part: OnPart | None = None
) -> Generator[ManyRuns]:
    """Yield the runs of the inputs; their work folder is removed when the block ends well.

    `on_part` is told of each part of the products as soon as it is complete.

    Raises:
        WorkFolderError: the folder for the work can't be used.
    """
    request = fingerprint(str(Path.cwd()), [(one.path, one.place) for one in inputs], msgspec.structs.astuple(wanted))
    parts = [part for one in inputs for part in in_parts(one)]
    plan = Plan(
        version=import_module("importlib.metadata").version("critiqor-otel"),
        request=request,
        inputs=state_of(parts),
        partitions=_partitions(inputs, scale),
    )
    address = usual_folder(request) if scale.work is None else scale.work
    with (
        work_folder(address, plan, resume=scale.resume) as (store, begun),
        _engine(scale) as engine,
        side.measuring() as progress,
    ):
        job = Job(engine, store, partitions=begun.partitions, progress=progress)
        survey = job.survey(parts)
        product = wanted.product
        if product is Product.MERGED_LINES and survey.session_files:
            product = Product.REPORT
        purpose = Purpose(
            judge=partial(judged, profile=wanted.profile, options=wanted.options),
            product=_MAKERS[product],
            beside=_tables() if product is Product.TABLES else None,
            group_by=None if wanted.group_by is None else GroupBy(wanted.group_by),
            many_files=len(survey.places) > 1,
        )
        found = ManyRuns(job, store, survey, job.reduce(purpose, partial(_tell, on_part, store)), product)
        if scale.resume:
            begun_of = f"{job.kept} of {job.kept + job.done} parts were done"
            side.say(
                f"Went on with work that was begun: {begun_of}." if job.kept else f"Nothing was begun: {begun_of}."
            )
        tell_remarks(found.remarks, side=side, any_run=bool(found.outcome.runs))
        yield found


def _tell(on_part: OnPart | None, store: Store, part: Reduced) -> None:
    if on_part is not None:
        on_part(store, part)


@contextmanager
def _engine(scale: Scale) -> Generator[Engine]:
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(_chosen(scale))
        except (OSError, ValueError) as error:
            if scale.scheduler is None:
                raise
            raise OutputError(f"no Dask scheduler can be reached at {scale.scheduler}: {error}") from error
        yield engine


def _chosen(scale: Scale) -> Engine:
    if scale.engine == "dask":
        try:
            from critiqor_otel.engine.dask_engine import DaskEngine  # noqa: PLC0415  # an extra, and slow to load
        except ImportError as error:
            raise OutputError("Dask is not installed; install critiqor-otel[dask]") from error
        return DaskEngine(scale.scheduler, jobs=scale.processes)
    return ProcessEngine(scale.processes)


def _partitions(inputs: list[Input], scale: Scale) -> int:
    """Return so many that a worker holds little of one, and that little is done twice when the job is killed."""
    size = bytes_in(inputs)
    share = min(scale.memory // (16 * scale.processes), size // _USUAL_PARTITIONS)
    target = min(max(share, _LEAST_PARTITION), _LARGEST_PARTITION)
    return min(max(1, -(-size // target)), _MOST_PARTITIONS)


def _tables() -> Any:
    try:
        from critiqor_otel.engine.tables import tables_of  # noqa: PLC0415  # an extra, and slow to load
    except ImportError as error:
        raise OutputError("Parquet is written with pyarrow; install critiqor-otel[parquet]") from error
    return tables_of


def _report(run: Judged) -> bytes:
    return pickle.dumps((run.report, start_of(run.session), run.places))


def _nothing(_run: Judged) -> bytes:
    return b""


_MAKERS: Mapping[Product, Callable[[Judged], bytes]] = {
    Product.MERGED_LINES: line_of,
    Product.LINES: line_of,
    Product.REPORT: _report,
    Product.TABLES: _nothing,
}
