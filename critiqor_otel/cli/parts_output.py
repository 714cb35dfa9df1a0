"""A product in parts: a folder of JSON lines or of Parquet tables, whose files programs read side by side."""

import shutil
from collections.abc import Iterator

import click

from critiqor_otel.cli.many import ManyRuns
from critiqor_otel.cli.product import STANDARD_OUTPUT
from critiqor_otel.engine.frames import read_frames
from critiqor_otel.engine.store import Store
from critiqor_otel.errors import OutputError, UnreadableInputError

__all__ = ["deliver_lines", "deliver_tables", "empty_folder"]

_TABLES = ("runs", "causes", "events")


def empty_folder(output: str) -> Store:
    """Return the folder for the parts.

    Raises:
        click.UsageError: no folder is named, or there is something in it.
        OutputError: what reaches it is not installed.
    """
    if output == STANDARD_OUTPUT:
        raise click.UsageError("parquet is a folder of tables: name it with --output FOLDER")
    try:
        store = Store(output)
        there = store.names()
    except UnreadableInputError as error:
        raise OutputError(str(error)) from error
    except NotADirectoryError as error:
        raise click.UsageError(f"--output {output} is a file; a folder is needed") from error
    if there:
        raise click.UsageError(f"--output {output} holds files already; name a folder that is empty or not there")
    return store


def deliver_lines(found: ManyRuns, store: Store) -> None:
    """Write a file of JSON lines for each part of the job, in order of run id inside each.

    Raises:
        OutputError: it can't be written.
    """
    for number, name in enumerate(found.outcome.files):
        with store.writing(f"part-{number:05d}.jsonl") as file:
            for frame in read_frames(name, found.store):
                file.write(frame.content)


def deliver_tables(found: ManyRuns, store: Store) -> None:
    """Write the parts of each table into a folder of its own: `runs/`, `causes/`, `events/`.

    Raises:
        OutputError: they can't be written.
    """
    for table in _TABLES:
        folder = Store(f"{store.address}/{table}")
        for number, name in enumerate(_parts(found, table)):
            with folder.writing(f"part-{number:05d}.parquet") as file, found.store.open(name) as source:
                shutil.copyfileobj(source, file)


def _parts(found: ManyRuns, table: str) -> Iterator[str]:
    return (f"{name.removesuffix('.frames')}.{table}.parquet" for name in found.outcome.files)
