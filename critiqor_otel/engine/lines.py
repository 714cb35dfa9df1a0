"""A whole job in one call, for programs: paths in, a line of JSON a run out, on whatever engine."""

from collections.abc import Iterator, Sequence
from functools import partial

from analyzer.diagnosis import Profile
from analyzer.report.json_form import run_lines
from analyzer.report.report import Look, Report
from critiqor_otel.engine.job import Job
from critiqor_otel.engine.local import judged
from critiqor_otel.engine.parts import in_parts
from critiqor_otel.engine.reducing import Judged, Purpose
from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Engine
from critiqor_otel.formats.inputs import inputs_of

__all__ = ["diagnosed_lines", "line_of"]


def diagnosed_lines(
    paths: Sequence[str], engine: Engine, *, work: str, partitions: int, profile: Profile = Profile.STANDARD
) -> Iterator[bytes]:
    """Yield the verdict on each run as a line of JSON, in order of run id: what `diagnose --format jsonl` prints.

    Args:
        paths: files and folders, or addresses that fsspec knows, as all workers reach them.
        engine: what runs the tasks; it is entered and left here.
        work: a folder that all workers reach, empty or not there; what is in it afterwards is the caller's to remove.
        partitions: how many reduce tasks there are; so many that each has some 13 MB of the input.
        profile: the rules to judge by.

    Raises:
        CritiqorError: a task failed.
    """
    store = Store(work)
    with engine:
        job = Job(engine, store, partitions=partitions)
        job.survey([part for one in inputs_of(paths) for part in in_parts(one)])
        outcome = job.reduce(Purpose(judge=partial(judged, profile=profile), product=line_of))
        yield from job.products(outcome)


def line_of(run: Judged) -> bytes:
    """Return a run's verdict as a line of JSON."""
    return b"".join(run_lines(Report(runs=[run.report]), Look()))
