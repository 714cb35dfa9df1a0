"""Where a verb's product goes: a file that is whole or not there, or standard output, in one piece too."""

import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from critiqor_otel.errors import OutputError, ReaderGoneError
from critiqor_otel.spool.whole_file import whole_file

__all__ = ["STANDARD_OUTPUT", "deliver"]

STANDARD_OUTPUT = "-"

_IN_MEMORY = 1 << 24  # bytes held before a temporary file takes over


def deliver(pieces: Iterable[bytes], output: str) -> None:
    """Write the pieces to their place; when one of them cannot be made, nothing is written.

    Raises:
        OutputError: the place cannot be written to.
        ReaderGoneError: nobody reads standard output any more.
    """
    with _place(output) as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def _place(output: str) -> Generator[IO[bytes]]:
    if output != STANDARD_OUTPUT:
        with whole_file(Path(output)) as file:
            yield file
        return
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  # closed by the caller (`>&-`)
        raise OutputError("standard output is closed")
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as aside:
        yield aside
        aside.seek(0)
        try:
            shutil.copyfileobj(aside, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except BrokenPipeError as error:  # click would make it exit code 1, which means failures here
            raise ReaderGoneError("the reader of standard output went away") from error
        except OSError as error:
            raise OutputError(f"standard output can't be written: {error.strerror or error}") from error
