"""A table of spans in CSV: Phoenix's data frame written to a file."""

import csv
import sys
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from analyzer.pattern import pattern
from critiqor_otel.decode.findings import Finding, Findings
from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.format import StreamFormat
from critiqor_otel.formats.phoenix import PHOENIX_ROW
from critiqor_otel.span import Batch

__all__ = ["CSV_TABLE"]

_HEADER = pattern(rb"[^\n{\[]*\bcontext\.(?:trace|span)_id\b")
_AT_ONCE = 512  # rows
_NAMELESS = ""  # the column of what a row has too much


def _recognise(head: bytes) -> bool:
    return _HEADER.match(head) is not None


def _read(stream: BinaryIO, place: str) -> Iterator[Batch]:
    csv.field_size_limit(sys.maxsize)  # a prompt may be longer than the 128 KiB that csv allows
    rows = csv.DictReader((line.decode("utf-8-sig", "replace") for line in stream), restkey=_NAMELESS)
    read_any = False
    while True:
        findings = Findings()
        some = _some(rows, findings)
        known = [row for row in some if PHOENIX_ROW.recognise(row)]
        found = PHOENIX_ROW.read(known, findings)
        read_any = read_any or bool(known)
        yield Batch(spans=tuple(found.spans), notes=findings.notes(place), rejected=findings.rejected)
        if len(some) < _AT_ONCE:
            break
    if not read_any:
        raise UnreadableInputError("a table without a row that names a span")


def _some(rows: Iterator[dict[str, str]], findings: Findings) -> list[dict[str, str]]:
    some: list[dict[str, str]] = []
    try:
        some.extend(islice(rows, _AT_ONCE))
    except csv.Error as error:
        findings.add(Finding.DAMAGED_RECORD, f"the table breaks off: {error}")
    return some


CSV_TABLE = StreamFormat(name="table of spans", recognise=_recognise, read=_read)
