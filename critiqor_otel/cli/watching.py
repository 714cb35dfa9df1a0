"""`--watch`: do it again whenever the files change, until it is interrupted."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click

from critiqor_otel.backends.address import is_address
from critiqor_otel.cli.product import STANDARD_OUTPUT
from critiqor_otel.formats.input_files import files_under
from critiqor_otel.formats.inputs import HISTORY_FILE
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE

__all__ = ["check_watchable", "watch"]

_PAUSE = 1.0  # seconds between two looks at the files

_Seen = dict[str, tuple[int, int]]
"""Size and time of change, by path."""


def check_watchable(paths: Sequence[str]) -> None:
    """Refuse what cannot be read again.

    Raises:
        click.UsageError: standard input or a back end is among the paths.
    """
    for path in paths:
        if path == STANDARD_OUTPUT or is_address(path):
            raise click.UsageError(f"--watch looks at files and folders; {path!r} is neither")


def watch(
    paths: Sequence[str], act: Callable[[], object], *, product: str, pause: Callable[[float], object]
) -> NoReturn:
    """Act now, and again after every change of a file; what the act itself writes does not count."""
    seen: _Seen | None = None
    while True:
        there = dict(_files(paths, product))
        if there != seen:
            seen = there
            act()
        pause(_PAUSE)


def _files(paths: Sequence[str], product: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for given in paths:
        path = Path(given)
        for file in files_under(path) if path.is_dir() else [path]:
            if not isinstance(file, Path) or _is_ours(file, product):
                continue
            try:
                status = file.stat()
            except OSError:
                continue  # it went away between two looks
            yield str(file), (status.st_size, status.st_mtime_ns)


def _is_ours(file: Path, product: str) -> bool:
    return file.name.startswith(HISTORY_FILE) or file.name.endswith(DIAGNOSIS_FILE) or file == Path(product)
