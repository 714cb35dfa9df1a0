"""The Collector's file exporter where it writes bytes: four bytes of length, big-endian, then one request.

The request is protobuf; with compression on, it is a zstd frame of protobuf or JSON.
Source: https://github.com/open-telemetry/opentelemetry-collector-contrib/tree/main/exporter/fileexporter
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

from analyzer.session.model import Note
from critiqor_otel.decode.findings import Finding
from critiqor_otel.errors import DecodeError, UnreadableInputError
from critiqor_otel.formats.blocks import read_up_to
from critiqor_otel.formats.compression import ZSTD_MAGIC, inflate
from critiqor_otel.formats.format import StreamFormat
from critiqor_otel.formats.messages import decode_message
from critiqor_otel.formats.protobuf_layout import looks_like_request
from critiqor_otel.span import Batch

__all__ = ["LENGTH_PREFIXED"]

_PREFIX = 4
_LARGEST = 1 << 30  # bytes of one request, inflated
_TOLD = 20


def _recognise(head: bytes) -> bool:
    length = int.from_bytes(head[:_PREFIX], "big")
    message = head[_PREFIX : _PREFIX + length]
    if not message:
        return False
    return message.startswith((ZSTD_MAGIC, b'{"resource')) or looks_like_request(message)


def _read(stream: BinaryIO, place: str) -> Iterator[Batch]:
    at = 0
    read_any = False
    faults: list[Note] = []
    while prefix := stream.read(_PREFIX):
        length = int.from_bytes(prefix, "big")
        message = read_up_to(stream, length)
        where = f"{place}@{at}"
        if len(prefix) < _PREFIX or len(message) < length:
            told = f"byte {at}: the file ends {length - len(message)} bytes before the end of a request"
            faults.append(Note(code=Finding.CUT.value, message=told, place=where))
        try:
            if message:
                yield decode_message(_inflated(message), place=where)
                read_any = True
        except DecodeError as error:
            faults.append(Note(code="unreadable-record", message=f"byte {at}: {error}; left out", place=where))
        at += _PREFIX + length
    if not read_any:
        raise UnreadableInputError(faults[0].message)
    if faults:
        yield Batch(notes=tuple(faults[:_TOLD]))


def _inflated(message: bytes) -> bytes:
    if not message.startswith(ZSTD_MAGIC):
        return message
    inflating = inflate(io.BytesIO(message), message)
    if inflating is None:
        return message
    content = read_up_to(io.BufferedReader(inflating), _LARGEST)
    if inflating.damage is not None:
        raise DecodeError(inflating.damage)
    return content


LENGTH_PREFIXED = StreamFormat(name="length-prefixed requests", recognise=_recognise, read=_read)
