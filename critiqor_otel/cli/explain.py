"""`explain`: the page of a failure type, as its detector's author wrote it."""

import sys
from difflib import get_close_matches
from importlib import import_module

import click
from rich.console import Console
from rich.markdown import Markdown

from analyzer.detectors.registry import ALL
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import STANDARD_OUTPUT, deliver

__all__ = ["command", "explain", "page_of", "pages"]


def pages() -> dict[str, str]:
    """Return every failure type with its one-line summary, in the order of the detectors."""
    return {detector.failure_type: detector.summary for detector in ALL}


def page_of(failure_type: str) -> str | None:
    """Return the page of a failure type in Markdown: its name as heading, then its detector's docstring."""
    if failure_type not in pages():
        return None
    text = import_module(f"analyzer.detectors.{failure_type}").__doc__ or ""
    return f"# {failure_type}\n\n{text.strip()}\n"


def explain(failure_type: str | None) -> int:
    """Print the page, or the list of pages when none is named."""
    if failure_type is None:
        width = max(map(len, pages()))
        deliver((f"{name:<{width}}  {summary}\n".encode() for name, summary in pages().items()), STANDARD_OUTPUT)
        return ExitCode.FINE
    page = page_of(failure_type.lower())
    if page is None:
        raise click.UsageError(f"There is no failure type {failure_type!r}. {_suggestion(failure_type)}")
    if sys.stdout is not None and sys.stdout.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # `>&-`
        Console().print(Markdown(page))
    else:
        deliver([page.encode()], STANDARD_OUTPUT)
    return ExitCode.FINE


def _suggestion(failure_type: str) -> str:
    near = get_close_matches(failure_type.lower(), pages(), n=1)
    return f"Did you mean {near[0]}?" if near else f"There are: {', '.join(pages())}."


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
