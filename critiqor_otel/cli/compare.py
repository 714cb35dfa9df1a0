"""`compare`: what changed from one run, or folder of runs, to another?"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import click
import msgspec

from analyzer.evaluation.comparison import RunComparison, compare_runs
from analyzer.report.differences import Differences, differences
from analyzer.report.differences_view import markdown_lines, text_lines
from analyzer.report.json_form import encode_json
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned, shown
from critiqor_otel.cli.compared import Compared, Judging, read_compared
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side

__all__ = ["Request", "command", "compare"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    before: str
    after: str
    runs: str
    form: str
    output: str
    profile: str
    config: str | None = None
    quiet: bool


class _Change(msgspec.Struct, frozen=True, kw_only=True):
    """All that a form shows."""

    before: Compared
    after: Compared
    scores: RunComparison
    found: Differences

    @property
    def rows(self) -> list[list[str]]:
        """Trust and dimensions: name, before, after, change."""
        before, after = self.before.record, self.after.record
        trust = ["trust", shown(before.trust_score), shown(after.trust_score), f"{self.scores.trust_change:+d}"]
        return [
            trust,
            *(
                [dimension, shown(before.scores.get(dimension)), shown(after.scores.get(dimension)), f"{change:+d}"]
                for dimension, change in self.scores.changes.items()
            ),
        ]


def compare(request: Request) -> int:
    """Print what changed."""
    side = Side(quiet=request.quiet)
    judging = Judging(runs=request.runs, profile=request.profile, config=request.config)
    before, after = (read_compared(given, judging, side=side) for given in (request.before, request.after))
    change = _Change(
        before=before,
        after=after,
        scores=compare_runs(before.record, after.record),
        found=differences(before.runs, after.runs),
    )
    deliver(_FORMS[request.form](change), request.output)
    return ExitCode.FINE


def _table(change: _Change) -> Iterator[bytes]:
    yield from aligned([["", "BEFORE", "AFTER", "CHANGE"], *change.rows])
    for line in text_lines(change.found):
        yield f"{line}\n".encode()
    yield b"\n"
    yield from aligned([[change.scores.summary]])


def _markdown(change: _Change) -> Iterator[bytes]:
    head = [
        "# What changed",
        "",
        change.scores.summary,
        "",
        "| | before | after | change |",
        "|---|--:|--:|--:|",
        *(f"| {' | '.join(row)} |" for row in change.rows),
    ]
    for line in (*head, *markdown_lines(change.found)):
        yield f"{line}\n".encode()


def _document(change: _Change) -> Iterator[bytes]:
    yield encode_json({**change.scores.to_dict(), **msgspec.to_builtins(change.found)}) + b"\n"


def _page(change: _Change) -> Iterator[bytes]:
    html = import_module("analyzer.report.html.comparison")  # with its templates, when it is asked for
    names = (change.before.name, change.after.name)
    yield html.comparison_page(names, change.rows, change.scores.summary, change.found)


_FORMS: Mapping[str, Callable[[_Change], Iterator[bytes]]] = {
    "table": _table,
    "json": _document,
    "markdown": _markdown,
    "html": _page,
}


@click.command(
    name="compare",
    epilog="""\b
Examples:
  critiqor-otel compare traces/agent.otlp.jsonl runs/
  critiqor-otel compare traces/agent.otlp.jsonl runs/ --format markdown
  critiqor-otel compare run_001 run_002""",
)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where to look for a run id.")
@options.form_of(*_FORMS)
@options.output_file
@options.profile
@options.config
@options.quiet
def command(**given: Any) -> int:
    """Tell what changed from A to B: trust, failures, steps, tokens and time.

    A and B are each a trace, a session file, a folder of either, a verdict, or the id of a run in the history of
    --runs, or its beginning. Where there are several runs, their averages count; runs of one id, else of one task, are
    held side by side.
    """
    return compare(Request(**given))
