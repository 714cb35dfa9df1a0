"""Standard input of any size: small ones are held, large ones wait in a file."""

import io
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import BinaryIO

import msgspec

from critiqor_otel.formats.inputs import STANDARD_INPUT, Input

__all__ = ["held_or_filed"]


@contextmanager
def held_or_filed(inputs: Iterable[Input], most: int) -> Generator[tuple[list[Input], BinaryIO | None]]:
    """Yield the inputs, and standard input where it is one of them and no larger than `most` bytes (-1: never held).

    A larger one is copied into a file, which stands in its place among the inputs until the block ends.
    """
    found = list(inputs)
    if all(one.path != STANDARD_INPUT for one in found):
        yield found, None
        return
    source = sys.stdin.buffer
    head = source.read(most + 1)
    if len(head) <= most:
        yield found, io.BytesIO(head)
        return
    with tempfile.NamedTemporaryFile(prefix="critiqor-otel-") as file:
        file.write(head)
        shutil.copyfileobj(source, file)
        file.flush()
        yield [_filed(one, file.name) for one in found], None


def _filed(one: Input, path: str) -> Input:
    return msgspec.structs.replace(one, path=path) if one.path == STANDARD_INPUT else one
