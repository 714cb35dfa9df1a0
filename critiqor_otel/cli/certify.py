"""`certify`: which reliability level does a run, or a folder of runs, deserve? With a badge to show it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.evaluation.benchmark import benchmark_run
from analyzer.evaluation.certification import ReliabilityCertification, certify_run
from analyzer.evaluation.result import BenchmarkResult
from analyzer.report.badge import badge_svg
from analyzer.report.json_form import encode_json
from analyzer.report.words import READINESS
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned, shown
from critiqor_otel.cli.evaluations import read_evaluations
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.histories import read_records
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side

__all__ = ["Request", "certify", "command"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    paths: tuple[str, ...]
    history: str | None
    form: str
    output: str
    profile: str
    config: str | None = None
    quiet: bool


def certify(request: Request) -> int:
    """Print the level that the runs reach together; 1 when they reach none."""
    side = Side(quiet=request.quiet)
    records = read_evaluations(request.paths, side=side, profile=request.profile, config=request.config)
    earlier = [] if request.history is None else read_records(request.history, side=side)
    if request.history is None:
        side.say("no history was given to rank by: the percentile is 100")
    benchmark = benchmark_run(records, earlier, name=Path(request.paths[0]).name)
    certification = certify_run(benchmark)
    deliver(_FORMS[request.form](certification, benchmark), request.output)
    return ExitCode.FAILURES if certification.certification_level == "none" else ExitCode.FINE


def _table(certification: ReliabilityCertification, benchmark: BenchmarkResult) -> Iterator[bytes]:
    criteria = ((name.replace("_", " "), _in_words(value)) for name, value in certification.criteria.items())
    return aligned(
        [
            ["level", certification.certification_level],
            ["runs", shown(benchmark.run_count)],
            ["trust score", shown(certification.trust_score)],
            ["percentile", shown(certification.percentile)],
            *criteria,
        ]
    )


def _in_words(value: Any) -> str:
    return READINESS.get(value, value.replace("_", " ")) if isinstance(value, str) else shown(value)


def _document(certification: ReliabilityCertification, _: BenchmarkResult) -> Iterator[bytes]:
    yield encode_json(certification.to_dict()) + b"\n"


def _markdown(certification: ReliabilityCertification, _: BenchmarkResult) -> Iterator[bytes]:
    yield f"{certification.markdown_badge}\n".encode()


def _svg(certification: ReliabilityCertification, _: BenchmarkResult) -> Iterator[bytes]:
    yield badge_svg(certification).encode()


_FORMS: Mapping[str, Callable[[ReliabilityCertification, BenchmarkResult], Iterator[bytes]]] = {
    "table": _table,
    "json": _document,
    "markdown": _markdown,
    "svg": _svg,
}


@click.command(
    name="certify",
    epilog="""\b
Examples:
  critiqor-otel certify traces/ --format markdown
  critiqor-otel certify traces/ --format svg --output badge.svg""",
)
@options.paths
@click.option("--history", metavar="HISTORY", help="A folder of runs, a store or JSON lines: the runs to rank among.")
@options.form_of("table", "json", "markdown", "svg")
@options.output_file
@options.profile
@options.config
@options.quiet
def command(**given: Any) -> int:
    """Tell which reliability level runs reach, and make the badge; exit with 1 when it is none.

    PATH is a trace, a session file, a folder of either, a verdict (diagnosis.json), a history, or a file of
    evaluations. Several runs are certified together: by their averages, their weakest evidence and all their failures.
    """
    return certify(Request(**given))
