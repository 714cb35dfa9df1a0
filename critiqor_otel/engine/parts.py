"""Large files in parts that tasks read side by side, cut where one record ends and the next one begins.

A file is cut only where its layout says so beyond doubt: between two JSON objects that stand on lines of their own (a
`}` before a `{` with nothing but a line break between them stands inside no JSON document), and between the blocks of
protobuf. Anything else is read as a whole. Cuts depend on the file alone, so that jobs and memory change nothing.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import BinaryIO

import msgspec

from analyzer.session.model import Note
from critiqor_otel.decode.wire import WireError, read_varint
from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.inputs import STANDARD_INPUT, Input, open_input, size_of
from critiqor_otel.formats.protobuf_layout import looks_like_request

__all__ = ["PART_BYTES", "from_the_start", "in_parts"]

PART_BYTES = 8 << 20
_HEAD = 1 << 16
_LONGEST_LINE = 1 << 26
_WINDOW = 1 << 20
_BLOCK_TAG = 0x0A  # field 1, length-delimited
_LONGEST_HEADER = 11
_BETWEEN_OBJECTS = re.compile(rb"\}\r?\n(?=\{)")

_Cuts = Callable[[BinaryIO, int, int], Iterator[int]]


def in_parts(one: Input, part_bytes: int = PART_BYTES) -> list[Input]:
    """Return the input in parts of at least so many bytes, or the input itself."""
    if one.note is not None or one.is_ours or one.path == STANDARD_INPUT:
        return [one]
    size = size_of(one.path)
    if size < 2 * part_bytes:
        return [one]
    try:
        with open_input(one) as file:
            cuts = _cutter(file.read(_HEAD))
            places = [0, *(() if cuts is None else cuts(file, size, part_bytes)), size]
    except (OSError, UnreadableInputError):
        return [one]
    return [
        msgspec.structs.replace(one, start=start, end=None if end == size else end) for start, end in pairwise(places)
    ]


def from_the_start(one: Input, notes: Sequence[Note]) -> Iterator[Note]:
    """Yield the notes on a part with their places counted from the start of the file."""
    lines: int | None = None
    for note in notes:
        sign, number = _position(one, note.place)
        if one.start == 0 or number is None:
            yield note
            continue
        if sign == ":" and lines is None:
            lines = _lines_before(one)
        before = lines or 0 if sign == ":" else one.start
        yield msgspec.structs.replace(note, place=f"{one.place}{sign}{before + number}")


def _position(one: Input, place: str | None) -> tuple[str, int | None]:
    if place is None or not place.startswith(one.place):
        return "", None
    rest = place[len(one.place) :]
    return rest[:1], int(rest[1:]) if rest[1:].isdecimal() else None


def _lines_before(one: Input) -> int:
    with open_input(msgspec.structs.replace(one, start=0, end=one.start)) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_WINDOW), b""))


def _cutter(head: bytes) -> _Cuts | None:
    if head.startswith(b'{"'):
        return _between_lines
    if looks_like_request(head):
        return _between_blocks
    return None


def _between_lines(file: BinaryIO, size: int, part_bytes: int) -> Iterator[int]:
    at = part_bytes
    while at < size - part_bytes // 2:
        found = _next_line(file, at)
        if found is None:
            return
        yield found
        at = found + part_bytes


def _next_line(file: BinaryIO, at: int) -> int | None:
    """Return where the first object after a place begins, on a line of its own."""
    file.seek(at)
    before = b""
    for _ in range(_LONGEST_LINE // _WINDOW):
        block = file.read(_WINDOW)
        if not block:
            return None
        text = before + block
        found = _BETWEEN_OBJECTS.search(text)
        if found is not None:
            return at - len(before) + found.end()
        at += len(block)
        before = text[-3:]
    return None


def _between_blocks(file: BinaryIO, size: int, part_bytes: int) -> Iterator[int]:
    at = begun = 0
    while at < size - part_bytes // 2:
        file.seek(at)
        header = file.read(_LONGEST_HEADER)
        if not header or header[0] != _BLOCK_TAG:
            return
        try:
            length, inside = read_varint(header, 1)
        except WireError:
            return
        at += inside + length
        if at - begun >= part_bytes and at < size - part_bytes // 2:
            yield at
            begun = at
