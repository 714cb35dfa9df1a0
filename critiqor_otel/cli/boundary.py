"""The one place where errors end: each becomes a message on standard error and an exit code."""

import errno
import os
import sys
from collections.abc import Callable

import click

from analyzer.errors import AnalyzerError
from analyzer.report.plain import one_line
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.errors import CritiqorError, OutputError, ReaderGoneError, ReceiverError, UnreadableInputError

__all__ = ["bounded"]


_SHOWN_NAME = 60
_FULL = (errno.ENOSPC, errno.EDQUOT)
_BARRED = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.EIO, errno.ESTALE)


def bounded(verb: Callable[[], object]) -> int:
    """Run the verb and return its exit code; no exception passes."""
    try:
        code = verb()
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # closed by the caller (`>&-`)
            sys.stdout.flush()
    except (
        BrokenPipeError,
        KeyboardInterrupt,
        click.Abort,
        click.ClickException,
        CritiqorError,
        AnalyzerError,
    ) as error:
        _let_go_of_output()
        return _expected(error)
    except Exception as error:  # noqa: BLE001  # the boundary: what nobody foresaw becomes a bug report
        known = _of_the_system(error, _let_go_of_output())
        return _unforeseen(error) if known is None else _expected(known)
    return code if isinstance(code, int) else ExitCode.FINE


def _let_go_of_output() -> str | None:
    """Return why standard output can't be written, if so; Python flushes it once more at exit, and would complain."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # as above
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error.strerror or str(error)
    return None


def _of_the_system(error: Exception, fault_of_output: str | None) -> Exception | None:
    """Return the error as one that a user can do something about; None for any other."""
    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENAMETOOLONG:
        return click.UsageError(one_line(f"{str(error.filename)[:_SHOWN_NAME]}… is too long for a name"))
    if error.errno in _BARRED and error.filename is not None:
        return UnreadableInputError(f"{error.filename} can't be reached: {error.strerror}")
    if fault_of_output is not None:
        return OutputError(f"standard output can't be written: {fault_of_output}")
    # What a closed stream held is gone, and can't be asked; all other writing names its file.
    return OutputError(f"standard output can't be written: {error.strerror}") if error.errno in _FULL else None


def _expected(error: BaseException) -> int:
    match error:
        case BrokenPipeError() | ReaderGoneError():
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
