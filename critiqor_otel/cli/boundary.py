"""The one place where errors end: each becomes a message on standard error and an exit code."""

import errno
import os
import sys
from collections.abc import Callable

import click

from analyzer.errors import AnalyzerError
from analyzer.report.plain import one_line
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.errors import CritiqorError, OutputError, ReaderGoneError, ReceiverError

__all__ = ["bounded"]


_SHOWN_NAME = 60


def bounded(verb: Callable[[], object]) -> int:
    """Run the verb and return its exit code; no exception passes."""
    try:
        code = verb()
        sys.stdout.flush()
    except (
        BrokenPipeError,
        KeyboardInterrupt,
        click.Abort,
        click.ClickException,
        CritiqorError,
        AnalyzerError,
    ) as error:
        return _expected(error)
    except Exception as error:  # noqa: BLE001  # the boundary: what nobody foresaw becomes a bug report
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            return _expected(click.UsageError(one_line(f"{str(error.filename)[:_SHOWN_NAME]}… is too long for a name")))
        return _unforeseen(error)
    return code if isinstance(code, int) else ExitCode.FINE


def _expected(error: BaseException) -> int:
    match error:
        case BrokenPipeError() | ReaderGoneError():
            # Python flushes standard output once more at exit, and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.BROKEN_PIPE
        case KeyboardInterrupt() | click.Abort():
            click.echo("Interrupted.", err=True)
            return ExitCode.INTERRUPTED
        case click.ClickException():
            error.show()
            return ExitCode.USAGE
        case _:
            click.echo(f"Error: {one_line(str(error))}", err=True)
            return ExitCode.USAGE if isinstance(error, (OutputError, ReceiverError)) else ExitCode.UNREADABLE


def _unforeseen(error: Exception) -> int:
    from critiqor_otel.cli.bug_report import write_bug_report  # noqa: PLC0415  # needed once in a blue moon

    click.echo(f"Error: {one_line(f'{type(error).__name__}: {error}')}", err=True)
    click.echo(
        f"This is a fault of critiqor-otel. What a bug report needs stands in {write_bug_report(error)}", err=True
    )
    return ExitCode.INTERNAL
