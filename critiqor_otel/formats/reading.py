"""Paths, bytes and standard input become batches of spans, log records and sessions.

What a file is, its content tells. Each batch is one record of a file (a request, a line, a frame); no more than that is
held at a time.
"""

import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from analyzer.session.model import Note
from critiqor_otel.backends.address import is_address, shown_address
from critiqor_otel.decode.findings import Finding
from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.compression import Inflating
from critiqor_otel.formats.content import open_content
from critiqor_otel.formats.csv_table import CSV_TABLE
from critiqor_otel.formats.format import StreamFormat
from critiqor_otel.formats.input_files import SKIPPED_FILE, UNREADABLE_INPUT, place_of
from critiqor_otel.formats.inputs import STANDARD_INPUT, Input, inputs_of, open_input
from critiqor_otel.formats.json_stream import JSON_STREAM
from critiqor_otel.formats.length_prefixed import LENGTH_PREFIXED
from critiqor_otel.formats.looks import looks_like
from critiqor_otel.formats.protobuf_stream import PROTOBUF_STREAM
from critiqor_otel.span import Batch

__all__ = [
    "EMPTY_INPUT",
    "EXPECTED",
    "SKIPPED_FILE",
    "STREAMS",
    "UNREADABLE_INPUT",
    "is_of_no_format",
    "read_bytes",
    "read_input",
    "read_path",
    "read_paths",
    "read_stream",
]

STREAMS: tuple[StreamFormat, ...] = (LENGTH_PREFIXED, PROTOBUF_STREAM, CSV_TABLE, JSON_STREAM)
"""How bytes may hold records, in the order in which they are asked. JSON comes last: it reads on over any dirt."""

_SESSION_FILE = "session.json"
EXPECTED = (
    "OTLP as JSON or protobuf, JSON of Jaeger, Zipkin, Tempo, Phoenix or Langfuse, the SDK's console output, "
    "or a critiqor session"
)
"""What an input may be, in words."""

EMPTY_INPUT = "empty-input"
"""The code of a note on an input that is of a known format and holds nothing."""

_NOTHING = Batch()
_LOOKS_LIKE = "it looks like "
_READ_AS = "read as "


def read_paths(
    paths: Sequence[str], *, standard_input: BinaryIO | None = None, now_ns: Callable[[], int] = time.time_ns
) -> Iterator[Batch]:
    """Yield what files, folders and back ends hold, in the order given; `-` is standard input.

    A back end is named by its address (`jaeger://localhost:16686?service=agent&lookback=1h`), which counts back from
    now.

    Each batch names its file. What can't be read ends nothing: it becomes a note, `unreadable-input` where it was given
    by name, `skipped-file` where it was met in a folder.
    """
    for one in inputs_of(paths):
        yield from read_input(one, standard_input=standard_input, now_ns=now_ns)


def read_input(
    one: Input, *, standard_input: BinaryIO | None = None, now_ns: Callable[[], int] = time.time_ns
) -> Iterator[Batch]:
    """Yield what one input, or a part of it, holds; as `read_paths`."""
    if one.note is not None or one.is_ours:
        yield Batch(notes=() if one.note is None else (one.note,), skipped=int(one.is_ours), place=one.place)
    elif one.path == STANDARD_INPUT:
        stream = sys.stdin.buffer if standard_input is None else standard_input
        yield from _guarded(read_stream(stream, place=one.path), one)
    elif is_address(one.path):
        yield from _guarded(_read_backend(one.path, now_ns), one)
    else:
        for batch in _guarded(_read_opened(one), one):
            yield batch if not one.in_folder else _without_doubled_record(batch, Path(one.path))


def _read_opened(one: Input) -> Iterator[Batch]:
    try:
        with open_input(one) as stream:
            yield from read_stream(stream, place=one.place)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnreadableInputError(f"{one.place}: it can't be read: {reason or error}") from error


def read_path(path: Path) -> Iterator[Batch]:
    """Yield what a file holds.

    Raises:
        UnreadableInputError: it can't be opened, or nothing in it can be read.
    """
    return _read_opened(Input(path=os.fspath(path), place=place_of(path)))


def read_bytes(data: bytes, *, place: str) -> Iterator[Batch]:
    """Yield what the bytes of a file hold; the place stands in notes and messages.

    Raises:
        UnreadableInputError: nothing in it can be read.
    """
    return read_stream(io.BytesIO(data), place=place)


def read_stream(stream: BinaryIO, *, place: str) -> Iterator[Batch]:
    """Yield what a stream holds; as `read_bytes`.

    Raises:
        UnreadableInputError: nothing in it can be read.
    """
    head, content, layers = open_content(stream)
    if not head:
        raise UnreadableInputError(f"{place}: {_why_empty(layers)}")
    form = next((candidate for candidate in STREAMS if candidate.recognise(head)), None)
    if form is None:
        raise UnreadableInputError(f"{place}: {_LOOKS_LIKE}{looks_like(head)}")
    empty = True
    try:
        for batch in form.read(content, place):
            empty = empty and batch == _NOTHING
            yield msgspec.structs.replace(batch, place=place)
    except UnreadableInputError as error:
        damage = "".join(f"; {layer.damage}" for layer in layers if layer.damage is not None)
        raise UnreadableInputError(f"{place}: {_READ_AS}{form.name}: {error}{damage}") from error
    notes = [
        Note(code=Finding.CUT.value, message=layer.damage, place=place) for layer in layers if layer.damage is not None
    ]
    if empty and not notes:
        message = f"it is {form.name} and holds no spans, no log records and no session"
        notes = [Note(code=EMPTY_INPUT, message=message, place=place)]
    if notes:
        yield Batch(notes=tuple(notes), place=place)


def _read_backend(address: str, now_ns: Callable[[], int]) -> Iterator[Batch]:
    from critiqor_otel.backends.registry import documents_of  # noqa: PLC0415  # an HTTP client: few need it

    for document in documents_of(address, now_ns):
        yield from read_bytes(document, place=shown_address(address))


def is_of_no_format(note: Note) -> bool:
    """Return whether the note says that an input is nothing that is read, so that its user asks what is."""
    return note.code in {UNREADABLE_INPUT, SKIPPED_FILE} and note.message.startswith((_LOOKS_LIKE, _READ_AS))


def _why_empty(layers: Sequence[Inflating]) -> str:
    damage = next((layer.damage for layer in layers if layer.damage is not None), None)
    return "it is empty" if damage is None else damage


def _without_doubled_record(batch: Batch, path: Path) -> Batch:
    """Pass over the record of a run (`run_001.json`) whose evidence lies in the folder beside it."""
    if not batch.sessions or not (path.with_suffix("") / _SESSION_FILE).is_file():
        return batch
    return Batch(skipped=1, place=batch.place)


def _guarded(batches: Iterator[Batch], one: Input) -> Iterator[Batch]:
    try:
        yield from batches
    except UnreadableInputError as error:
        message = str(error).removeprefix(f"{one.place}: ")
        yield Batch(notes=(Note(code=one.code, message=message, place=one.place),), place=one.place)
