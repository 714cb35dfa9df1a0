"""How a large input is to be worked on: in how many processes, with how much memory, where, and whether to go on."""

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import click
import msgspec
from typing_extensions import override

from analyzer.pattern import pattern
from critiqor_otel.formats.inputs import Input, size_of

__all__ = ["Scale", "bytes_in", "scale_options"]

_DIRECT = 16  # bytes of memory a byte of input, where all is held at once
_WORKER = 200 << 20  # bytes that a worker takes, with what it holds of a partition
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_AMOUNT = pattern(r"(\d{1,15})\s*([kmgt]?)(?:i?b)?", re.IGNORECASE | re.ASCII)
_LEAST_MEMORY = 128 << 20
_COMPRESSED = (".gz", ".zst", ".zstd")
_INFLATED = 10  # times the size of a compressed file


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    engine: str = "local"
    scheduler: str | None = None
    """The address of a Dask scheduler; None for a cluster of our own on this machine."""
    jobs: int | None = None
    memory: int = 1 << 30
    """Bytes, for all processes together."""
    work: str | None = None
    resume: bool = False

    def check(self) -> None:
        """Refuse what would have no effect.

        Raises:
            click.UsageError: a scheduler is named, and the engine is not Dask.
        """
        if self.scheduler is not None and self.engine != "dask":
            raise click.UsageError("--scheduler goes with --engine dask.")

    def in_parts(self, inputs: Iterable[Input]) -> bool:
        """Tell whether holding the input at once would take too much memory."""
        return bytes_in(inputs) > self.most_held

    @property
    def is_asked_for(self) -> bool:
        """Whether some option asks for work in parts, however small the input is."""
        return self.engine != "local" or self.resume or self.work is not None or self.jobs is not None

    @property
    def processes(self) -> int:
        """How many workers there are: as many as were asked for, else one a core as far as the memory lasts."""
        return self.jobs or max(1, min(os.cpu_count() or 1, self.memory // _WORKER))

    @property
    def most_held(self) -> int:
        """The largest input, in bytes, that is held at once."""
        return self.memory // _DIRECT


class _Amount(click.ParamType[int]):
    """A number of bytes: 512M, 1GiB."""

    name = "size"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the bytes."""
        if isinstance(value, int):
            return value
        found = _AMOUNT.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no size; write it as 512M or 2G", param, ctx)
        amount = int(found[1]) * _UNITS[found[2].lower()]
        if amount < _LEAST_MEMORY:
            self.fail(f"{value} is less than the {_LEAST_MEMORY >> 20}M that a worker needs", param, ctx)
        return amount


def scale_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of large inputs to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def bytes_in(inputs: Iterable[Input]) -> int:
    """Return about how many bytes the inputs hold; compressed ones are guessed at."""
    return sum(size_of(one.path) * (_INFLATED if one.path.endswith(_COMPRESSED) else 1) for one in inputs)


_OPTIONS = (
    click.option(
        "--jobs",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Work in N processes; by default one a core as far as --memory lasts, as soon as the input is large.",
    ),
    click.option(
        "--memory",
        type=_Amount(),
        default="1G",
        show_default=True,
        help="Keep all processes together below this; the largest single run must fit in.",
    ),
    click.option("--resume", is_flag=True, help="Go on where a job with the same arguments was stopped or killed."),
    click.option(
        "--work",
        metavar="FOLDER",
        help="Where what is done is kept until the end; a folder of the system for temporary files by default.",
    ),
    click.option(
        "--engine",
        type=click.Choice(["local", "dask"]),
        default="local",
        show_default=True,
        help="Work in processes of this machine, or on a Dask cluster.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="The Dask scheduler; without it a cluster is started on this machine.",
    ),
)
