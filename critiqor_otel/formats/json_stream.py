"""A stream of JSON documents: OTLP lines, indented objects, API answers, console output, session files."""

from collections.abc import Iterator
from typing import BinaryIO

from analyzer.pattern import pattern
from analyzer.session.model import Note
from critiqor_otel.decode.findings import Finding
from critiqor_otel.errors import DecodeError, UnreadableInputError
from critiqor_otel.formats.documents import decode_document
from critiqor_otel.formats.format import StreamFormat
from critiqor_otel.formats.json_cut import close_cut_document
from critiqor_otel.formats.json_texts import Fault, read_pieces
from critiqor_otel.span import Batch

__all__ = ["JSON_STREAM"]

_TOLD = 20  # faults told one by one; the rest is counted
_BEGINNING = pattern(rb"[\s\0\xef\xbb\xbf]*[{\[]")
_LATER = pattern(rb"\n[\s\0]*\{\s*\"")


def _recognise(head: bytes) -> bool:
    return _BEGINNING.match(head) is not None or _LATER.search(head) is not None


def _read(stream: BinaryIO, place: str) -> Iterator[Batch]:
    faults: list[Fault] = []
    read_any = False
    for piece in read_pieces(stream, lambda data, line: decode_document(data, place=f"{place}:{line}")):
        if isinstance(piece, Fault):
            faults.append(piece if len(faults) < _TOLD else Fault(piece.line, piece.reason))
            continue
        read_any = True
        yield piece.content
    if not read_any:
        yield _rescued(faults, place)
    elif faults:
        yield Batch(notes=tuple(_notes(faults, place)))


def _rescued(faults: list[Fault], place: str) -> Batch:
    """Return the whole records of a document that was cut, where that is all there is."""
    for fault in faults:
        closed = close_cut_document(fault.cut) if fault.cut else None
        if closed is None:
            continue
        try:
            batch = decode_document(closed, place=f"{place}:{fault.line}")
        except DecodeError:
            continue
        told = [_note(f"{fault.reason}; the whole records before the cut are kept", fault, place)]
        others = _notes([other for other in faults if other is not fault], place)
        return Batch(spans=batch.spans, logs=batch.logs, sessions=batch.sessions, notes=(*batch.notes, *told, *others))
    if faults:
        more = f", and {len(faults) - 1} more such places" if len(faults) > 1 else ""
        raise UnreadableInputError(f"line {faults[0].line}: {faults[0].reason}{more}")
    raise UnreadableInputError("it holds nothing but blanks")


def _notes(faults: list[Fault], place: str) -> Iterator[Note]:
    for fault in faults[:_TOLD]:
        yield _note(f"{fault.reason}; left out", fault, place)
    if len(faults) > _TOLD:
        yield Note(code="unreadable-record", message=f"{len(faults) - _TOLD} more such places", place=place)


def _note(message: str, fault: Fault, place: str) -> Note:
    code = Finding.CUT.value if fault.cut is not None else "unreadable-record"
    return Note(code=code, message=message, place=f"{place}:{fault.line}")


JSON_STREAM = StreamFormat(name="JSON", recognise=_recognise, read=_read)
