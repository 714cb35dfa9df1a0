"""A product in parts: a folder of JSON lines or of Parquet tables, whose files programs read side by side."""

import shutil

import click

from critiqor_otel.cli.product import STANDARD_OUTPUT
from critiqor_otel.engine.frames import read_frames
from critiqor_otel.engine.reducing import Reduced
from critiqor_otel.engine.store import Store
from critiqor_otel.errors import OutputError, UnreadableInputError

__all__ = ["PartsFolder"]

_TABLES = ("runs", "causes", "events")
_DONE = "_SUCCESS"  # what Spark and Hadoop look for, and pass over as a part


class PartsFolder:
    """The folder of the parts; each is written when it is complete, and a file `_SUCCESS` when all are."""

    def __init__(self, output: str, *, resume: bool) -> None:
        """Take the folder, which has to be empty unless the job goes on.

        Raises:
            click.UsageError: no folder is named, or there is something in it.
            OutputError: what reaches it is not installed.
        """
        if output == STANDARD_OUTPUT:
            raise click.UsageError("parquet is a folder of tables: name it with --output FOLDER")
        try:
            self._store = Store(output)
            there = self._store.names()
        except UnreadableInputError as error:
            raise OutputError(str(error)) from error
        except NotADirectoryError as error:
            raise click.UsageError(f"--output {output} is a file; a folder is needed") from error
        if there and not resume:
            raise click.UsageError(f"--output {output} holds files already; name a folder that is empty or not there")

    def finish(self) -> None:
        """Say that all parts are there.

        Raises:
            OutputError: it can't be written.
        """
        self._store.write(_DONE, b"")

    def add_lines(self, work: Store, part: Reduced) -> None:
        """Write the runs of a part as JSON lines, in order of run id.

        Raises:
            OutputError: they can't be written.
        """
        with self._store.writing(f"part-{part.partition:05d}.jsonl") as file:
            for frame in read_frames(part.file, work):
                file.write(frame.content)

    def add_tables(self, work: Store, part: Reduced) -> None:
        """Write a part of each table into a folder of its own: `runs/`, `causes/`, `events/`.

        Raises:
            OutputError: they can't be written.
        """
        for table in _TABLES:
            folder = Store(f"{self._store.address}/{table}")
            source = f"{part.file.removesuffix('.frames')}.{table}.parquet"
            with folder.writing(f"part-{part.partition:05d}.parquet") as file, work.open(source) as held:
                shutil.copyfileobj(held, file)
