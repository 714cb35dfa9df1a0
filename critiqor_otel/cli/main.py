"""The entry of the command: a table of verbs, each loaded when it is called for."""

import atexit
import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

import click
from typing_extensions import override

from analyzer.bulk import bulk_work
from critiqor_otel.cli.boundary import bounded
from critiqor_otel.cli.closed_streams import fill_closed_streams

__all__ = ["VERBS", "Verb", "main"]


class Verb(NamedTuple):
    """Where a verb lives, and the line that `--help` shows of it."""

    module: str
    summary: str


# The summaries stand here and not in the modules alone, so that `--help` loads none of them.
VERBS: Mapping[str, Verb] = {
    "diagnose": Verb("critiqor_otel.cli.diagnose", "Say what went wrong in each run, why, and how sure that is."),
    "sessions": Verb("critiqor_otel.cli.sessions", "Write one session file a run, and nothing else."),
    "show": Verb("critiqor_otel.cli.show", "Show what happened in a run, step by step."),
    "explain": Verb("critiqor_otel.cli.explain", "Tell what a failure type means and how to fix it."),
    "serve": Verb("critiqor_otel.cli.serve", "Receive OTLP from any agent, and seal one session file a run, live."),
    "run": Verb("critiqor_otel.cli.run", "Run an agent's command under observation, and diagnose it when it ends."),
    "finalize": Verb("critiqor_otel.cli.finalize", "Seal sessions that a plugin wrote, untouched, and diagnose them."),
    "replay": Verb("critiqor_otel.cli.replay", "Send sessions as spans to any OTLP endpoint."),
    "annotate": Verb(
        "critiqor_otel.cli.annotate",
        "Send the verdict on each run as spans of the run's own trace, linked to their evidence.",
    ),
    "doctor": Verb("critiqor_otel.cli.doctor", "Tell what traces carry, what is missing, and what to switch on."),
    "runs": Verb("critiqor_otel.cli.runs", "List the runs of a history, with what became of each."),
    "compare": Verb(
        "critiqor_otel.cli.compare", "Tell what changed from A to B: trust, failures, steps, tokens and time."
    ),
    "check": Verb("critiqor_otel.cli.check", "Tell whether runs meet a policy, rule by rule."),
    "trends": Verb("critiqor_otel.cli.trends", "Tell whether agents get better or worse over their runs."),
    "certify": Verb("critiqor_otel.cli.certify", "Tell which reliability level runs reach, and make the badge."),
    "leaderboard": Verb(
        "critiqor_otel.cli.leaderboard", "Rank the agents of a category by the average trust of their runs."
    ),
    "benchmark": Verb("critiqor_otel.cli.benchmark", "Run a suite of prompts under observation."),
    "schema": Verb(
        "critiqor_otel.cli.schema", "Print the JSON Schema of a document: diagnosis (the default), session or baseline."
    ),
    "demo": Verb("critiqor_otel.cli.demo", "Diagnose a captured run of a real agent that ships with this package."),
}

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _LazyGroup(click.Group):
    """A group whose commands are imported by name."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        with bulk_work():  # modules are made of objects that stay
            command = import_module(verb.module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{verb.module}.command is no command")
        return command

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not args[0].startswith("-"):
            ctx.fail(f"There is no verb {args[0]!r}. {_suggestion(args[0])}")
        return super().resolve_command(ctx, args)

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.summary) for name, verb in VERBS.items()])


def _suggestion(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  # loaded by who mistyped, not by everybody

    near = get_close_matches(name.lower(), VERBS, n=1)
    return f"Did you mean {near[0]}?" if near else "See critiqor-otel --help."


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001  # click's signature
    if not asked or ctx.resilient_parsing:
        return
    click.echo(f"critiqor-otel {import_module('importlib.metadata').version('critiqor-otel')}")
    ctx.exit()


@click.group(
    cls=_LazyGroup,
    context_settings=_CONTEXT,
    subcommand_metavar="VERB [ARGUMENTS]…",
    epilog="""\b
Exit codes: 0 fine · 1 failures at or above --fail-on · 2 usage
            3 nothing readable, or no agent in it · 4 internal error
Example:
  critiqor-otel diagnose traces/""",
)
@click.option(
    "--version", "-V", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def _group() -> None:
    """Traces of agents in, a verdict a run out: what went wrong, why, from which evidence, and how sure that is.

    No model, no network, no account.
    """


def main() -> int:
    """Run the command with the process's arguments and return its exit code."""
    fill_closed_streams()
    atexit.register(gc.freeze)  # what is left goes with the process: nobody need look for cycles in it
    return bounded(lambda: _group.main(args=sys.argv[1:], prog_name="critiqor-otel", standalone_mode=False))
