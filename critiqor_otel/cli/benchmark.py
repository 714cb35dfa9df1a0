"""`benchmark`: a suite of prompts, each answered under observation, and what that makes of the agent."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.evaluation.benchmark import benchmark_run
from analyzer.evaluation.diagnosed import RunSummary
from analyzer.evaluation.history.store import HISTORY_FILE, History
from analyzer.evaluation.result import BenchmarkResult
from analyzer.evaluation.roster import register_agent
from analyzer.report.json_form import encode_json
from analyzer.report.words import READINESS
from analyzer.session.jsontext import read_json
from critiqor_otel.cli import options
from critiqor_otel.cli import run as observed
from critiqor_otel.cli.columns import aligned, shown
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side
from critiqor_otel.cli.suite import Case, Suite, read_suite
from critiqor_otel.emit.run_identity import new_run_id
from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE
from critiqor_otel.spool.run_folder import folder_of

__all__ = ["Request", "benchmark", "command"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    suite: str
    runs: str
    form: str
    output: str
    profile: str
    config: str | None = None
    quiet: bool


class _Done(msgspec.Struct, frozen=True):
    """One case that was run."""

    case: Case
    exit_code: int
    verdict: Mapping[str, Any]


def benchmark(request: Request) -> int:
    """Run the suite, print its cases and its averages, and return 1 when a case's command failed."""
    side = Side(quiet=request.quiet)
    suite = read_suite(request.suite)
    earlier = _prepared(Path(request.runs) / HISTORY_FILE, suite)
    done = [_run(case, suite, request, side) for case in suite.cases]
    result = benchmark_run([one.verdict for one in done], earlier, name=suite.name, agent_type=suite.agent_type)
    deliver(_FORMS[request.form](done, result), request.output)
    return ExitCode.FAILURES if any(one.exit_code for one in done) else ExitCode.FINE


def _prepared(store: Path, suite: Suite) -> list[int]:
    """Return the trust scores of earlier runs; the agent is put into the suite's category unless it is in one."""
    with History.visit(store) as history:
        if not history.knows(suite.agent):
            register_agent(suite.agent, category=suite.agent_type, roster=history)
        return [score for scores in history.trust_scores().values() for score in scores]


def _run(case: Case, suite: Suite, request: Request, side: Side) -> _Done:
    """Run one case as `run` does, what it prints going to standard error."""
    run_id = new_run_id()
    side.say(f"{suite.name}: {case.name}")
    asked = observed.Request(
        words=case.words,
        runs=request.runs,
        run_id=run_id,
        agent=suite.agent,
        timeout=suite.timeout,
        content=True,
        profile=request.profile,
        config=request.config,
        fail_on="never",
        quiet=True,
    )
    with redirect_stdout(sys.stderr):
        code = observed.run(asked)
    if code == ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    return _Done(case, code, _verdict(Path(request.runs) / folder_of(run_id) / DIAGNOSIS_FILE))


def _verdict(file: Path) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = read_json(file.read_bytes())[0]
    except (OSError, ValueError) as error:
        raise UnreadableInputError(f"{file}: the verdict can't be read: {error}") from error
    return found


def _table(done: list[_Done], result: BenchmarkResult) -> Iterator[bytes]:
    rows = [["CASE", "RUN", "TRUST", "VERDICT", "MAIN FAILURE", "EXIT", "SECONDS", "TOKENS"]]
    for one in done:
        run = RunSummary.of_diagnosis(one.verdict)
        verdict = READINESS.get(run.readiness or "", shown(run.readiness))
        failure = run.primary_failure or "none found"
        figures = [shown(one.exit_code), shown(run.latency), shown(run.tokens)]
        rows.append([one.case.name, run.run_id, shown(run.trust_score), verdict, failure, *figures])
    yield from aligned(rows)
    blind = sum(RunSummary.of_diagnosis(one.verdict).trust_score is None for one in done)
    plural = "" if result.run_count == 1 else "s"
    yield f"{result.name}: {result.run_count} run{plural}, {_outcome(result, blind)}\n".encode()


def _outcome(result: BenchmarkResult, blind: int) -> str:
    if blind == result.run_count:
        return "none with enough evidence to judge; did the command send its spans?"
    counted = f" ({blind} without enough evidence counted as 0)" if blind else ""
    compared = f"as good as or better than {result.percentile}% of earlier runs"
    return f"trust {result.trust_score} on average{counted}, {compared}"


def _document(_: list[_Done], result: BenchmarkResult) -> Iterator[bytes]:
    yield encode_json(result.to_dict()) + b"\n"


_FORMS: Mapping[str, Callable[[list[_Done], BenchmarkResult], Iterator[bytes]]] = {"table": _table, "json": _document}


@click.command(
    name="benchmark",
    epilog="""\b
Example:
  critiqor-otel benchmark suite.toml --format json""",
)
@click.argument("suite", metavar="SUITE")
@click.option("--runs", metavar="FOLDER", default="runs", show_default=True, help="Where the runs are sealed and kept.")
@options.form_of("table", "json")
@options.output_file
@options.profile
@options.config
@options.quiet
def command(**given: Any) -> int:
    """Run a suite of prompts under observation, and tell how the agent does on average.

    SUITE is a TOML, YAML or JSON file of `prompts` and a `command`, a list of words in which {prompt} stands for the
    prompt, or a Python `callable`, "module:name". Each prompt is a run of its own, sealed, diagnosed and kept in the
    history of --runs. `name`, `agent`, `agent_type`, `timeout` (seconds) and `repeat` are optional. Exits with 1 when
    some command failed.
    """
    return benchmark(Request(**given))
