"""`explain`: the page of a failure type, as its detector's author wrote it."""

import sys

import click

from analyzer.detectors.pages import page_of, summaries
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.meant import meant
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver

__all__ = ["command", "explain"]


def explain(failure_type: str | None) -> int:
    """Print the page, or the list of pages when none is named."""
    if failure_type is None:
        width = max(map(len, summaries()))
        deliver((f"{name:<{width}}  {summary}\n".encode() for name, summary in summaries().items()), STANDARD_OUTPUT)
        return ExitCode.FINE
    page = page_of(failure_type.lower())
    if page is None:
        raise click.UsageError(f"There is no failure type {failure_type!r}. {_suggestion(failure_type)}")
    if sys.stdout is not None and sys.stdout.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # `>&-`
        _draw(page)
    else:
        deliver([page.encode()], STANDARD_OUTPUT)
    return ExitCode.FINE


def _draw(page: str) -> None:
    from rich.console import Console  # noqa: PLC0415  # slow to load, and needed on a terminal alone
    from rich.markdown import Markdown  # noqa: PLC0415  # as above

    Console().print(Markdown(page))


def _suggestion(failure_type: str) -> str:
    near = meant(failure_type, summaries())
    return near.capitalize() if near else f"There are: {', '.join(summaries())}."


@click.command(
    name="explain",
    epilog="""\b
Examples:
  critiqor-otel explain
  critiqor-otel explain infinite_tool_loop""",
)
@click.argument("failure_type", required=False, metavar="[TYPE]")
def command(failure_type: str | None) -> int:
    """Tell what a failure type means and how to fix it.

    TYPE is the name of a failure type as a verdict gives it; without it, all are listed.
    """
    return explain(failure_type)
