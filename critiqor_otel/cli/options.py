"""Arguments and options that several verbs share, each described once."""

from collections.abc import Callable
from typing import Any

import click
from typing_extensions import override

from analyzer.report.html.address import is_link

__all__ = [
    "TEXT",
    "config",
    "form_of",
    "group_by",
    "history",
    "jaeger_url",
    "keep_silent",
    "output_file",
    "paths",
    "profile",
    "quiet",
    "verbose",
]


class _Text(click.ParamType[str]):
    name = "text"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        del param, ctx
        return str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


TEXT = _Text()
"""Words that are kept or sent, and no path: bytes that are no UTF-8 become U+FFFD."""

paths = click.argument("paths", nargs=-1, required=True, metavar="PATH…")

output_file = click.option(
    "--output",
    "-o",
    metavar="FILE",
    default="-",
    help="Write the product to FILE, whole or not at all; - is standard output.",
)

profile = click.option(
    "--profile",
    type=click.Choice(["standard", "critiqor-v1"]),
    default="standard",
    show_default=True,
    help="The rules to judge by: ours, or those of critiqor 0.1.4 to the number.",
)

config = click.option(
    "--config",
    metavar="FILE",
    help="Take the settings of FILE; else of the nearest critiqor.toml or pyproject.toml ([tool.critiqor]) upwards.",
)

group_by = click.option(
    "--group-by",
    type=click.Choice(["trace", "conversation"]),
    help="Make a run of each trace, or of each conversation, whatever else the spans say.",
)

keep_silent = click.option(
    "--all",
    "keep_silent",
    is_flag=True,
    help="Traces in which no agent speaks are runs too; they are passed over else.",
)

quiet = click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on standard error; errors only.")

verbose = click.option("--verbose", "-v", is_flag=True, help="Name every file that was passed over, and every note.")

history = click.argument("history", required=False, default="runs", metavar="[HISTORY]")


def _link(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_link(value):
        raise click.BadParameter(f"{value!r} is no address: http://localhost:16686 is one")
    return value


jaeger_url = click.option(
    "--jaeger-url",
    metavar="URL",
    callback=_link,
    help="A Jaeger that holds the traces: pages (--format html) link each span to it.",
)


def form_of(*forms: str) -> Callable[[Any], Any]:
    """Return the option that chooses one of the forms, the first by default."""
    choice = click.Choice(forms)
    return click.option("--format", "form", type=choice, default=forms[0], show_default=True, help="How it is shown.")
