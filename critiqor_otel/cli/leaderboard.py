"""`leaderboard`: which agents of a history have earned the most trust?"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click
import msgspec

from analyzer.evaluation.leaderboard import Leaderboard, LeaderboardEntry, generate_leaderboard
from analyzer.evaluation.roster import register_agent
from analyzer.report.json_form import encode_json
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.histories import open_history
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side

__all__ = ["Request", "command", "leaderboard"]

_COLUMNS: Mapping[str, Callable[[LeaderboardEntry], str]] = {
    "RANK": lambda entry: str(entry.rank),
    "AGENT": lambda entry: entry.name,
    "TRUST": lambda entry: str(entry.trust_score),
    "PERCENTILE": lambda entry: str(entry.percentile),
    "RUNS": lambda entry: f"{entry.run_count:,}",
}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    history: str
    category: str
    assign: tuple[str, ...]
    form: str
    output: str
    quiet: bool


def leaderboard(request: Request) -> int:
    """Print the ranking of a category, once the agents named are put into it."""
    side = Side(quiet=request.quiet)
    with open_history(request.history, side=side) as history:
        for agent in request.assign:
            register_agent(agent, category=request.category, roster=history)
        board = generate_leaderboard(request.category, roster=history)
    if not board.rankings:
        side.say(f"no agent of the category {request.category} has a run; --assign NAME puts one into it")
    deliver(_FORMS[request.form](board), request.output)
    return ExitCode.FINE


def _table(board: Leaderboard) -> Iterator[bytes]:
    return aligned([list(_COLUMNS), *([value(entry) for value in _COLUMNS.values()] for entry in board.rankings)])


def _document(board: Leaderboard) -> Iterator[bytes]:
    yield encode_json(board.to_dict()) + b"\n"


_FORMS = {"table": _table, "json": _document}


@click.command(
    name="leaderboard",
    epilog="""\b
Examples:
  critiqor-otel leaderboard
  critiqor-otel leaderboard runs/ --category coding --assign reviewer""",
)
@options.history
@click.option(
    "--category", type=options.TEXT, metavar="NAME", default="general", show_default=True, help="The category to rank."
)
@click.option(
    "--assign",
    type=options.TEXT,
    metavar="AGENT",
    multiple=True,
    help="First put this agent into the category, for good.",
)
@options.form_of("table", "json")
@options.output_file
@options.quiet
def command(**given: Any) -> int:
    """Rank the agents of a category by the average trust of their runs.

    HISTORY is a folder of runs, by default `runs`, or a store. An agent is in the category `general` until it is
    registered or assigned to another.
    """
    return leaderboard(Request(**given))
