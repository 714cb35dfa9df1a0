"""One JSON document becomes a batch, whatever format it is in and however it is wrapped."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from analyzer.session.model import Note
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.decode.findings import Findings
from critiqor_otel.decode.json_document import read_document
from critiqor_otel.decode.otlp_json import decode_request
from critiqor_otel.errors import DecodeError
from critiqor_otel.formats.format import Found, RecordFormat
from critiqor_otel.formats.js_literal import json_of_literal, looks_like_literal
from critiqor_otel.formats.registry import recognise
from critiqor_otel.formats.session_files import is_evidence, is_own_by_product, read_evidence
from critiqor_otel.span import Batch

__all__ = ["UnknownDocumentError", "decode_document"]

# The wrappings of APIs and exports: what they hold is looked at in their place.
_WRAPPINGS = ("data", "result", "results", "trace", "traces", "spans", "observations", "items", "hits", "_source")
_DEEPEST = 6
_KEYS_TOLD = 6


class UnknownDocumentError(DecodeError):
    """A JSON document holds nothing that any format recognises; the message tells what it looks like."""


def decode_document(data: bytes, *, place: str) -> Batch:
    """Return what the bytes of one JSON document hold.

    Raises:
        DecodeError: they are no JSON.
        UnknownDocumentError: no format recognises any of it.
    """
    return decode_request(data, place=place) or _decode_other(data, place)


def _decode_other(data: bytes, place: str) -> Batch:
    findings = Findings()
    document = _parse(data, findings)
    if is_evidence(document):
        return read_evidence(data)
    if is_own_by_product(document):
        return Batch(skipped=1)
    found = Found()
    unknown: list[Any] = []
    known = False
    for reader, group in groupby(_unwrap(document, 0), key=_format_of):
        items = list(group)
        if reader is None:
            unknown += items
            continue
        known = True
        _add(found, reader.read(items, findings))
    if not known and (unknown or not _is_empty_wrapping(document)):
        raise UnknownDocumentError(f"{_looks(document)}: of no format that is known here")
    notes = (*findings.notes(place), *_unknown_note(unknown, place))
    return Batch(
        spans=tuple(found.spans), logs=tuple(found.logs), skipped=found.skipped, notes=notes, rejected=findings.rejected
    )


def _parse(data: bytes, findings: Findings) -> Any:
    try:
        return read_document(data, findings)
    except DecodeError:
        if not looks_like_literal(data):
            raise
    return read_document(json_of_literal(data.decode("utf-8", "replace")), findings)


def _unwrap(document: Any, depth: int) -> Iterator[Any]:
    """Yield the documents inside lists and wrappings, in order."""
    if is_list(document):
        for item in document:
            if is_list(item) and depth < _DEEPEST:
                yield from _unwrap(item, depth + 1)
            elif is_object(item):
                yield from _unwrap(item, depth) if depth < _DEEPEST else [item]
            else:
                yield item
        return
    if is_object(document) and depth < _DEEPEST and recognise(document) is None:
        inside = [document[key] for key in _WRAPPINGS if is_list(document.get(key)) or is_object(document.get(key))]
        if inside:
            for item in inside:
                yield from _unwrap(item, depth + 1)
            return
    yield document


def _format_of(document: Any) -> RecordFormat | None:
    return recognise(document) if is_object(document) else None


def _is_empty_wrapping(document: Any) -> bool:
    if is_list(document):
        return not document
    return is_object(document) and any(document.get(key) == [] for key in _WRAPPINGS)


def _add(found: Found, more: Found) -> None:
    found.spans += more.spans
    found.logs += more.logs
    found.skipped += more.skipped


def _unknown_note(unknown: list[Any], place: str) -> list[Note]:
    if not unknown:
        return []
    message = f"{len(unknown)} items among the spans are none, the first is {_looks(unknown[0])}; they were left out"
    return [Note(code="unknown-record", message=message, place=place)]


def _looks(document: Any) -> str:
    if is_list(document):
        return f"a JSON list of {len(document)} items" + (f", the first is {_looks(document[0])}" if document else "")
    if not is_object(document):
        return f"the JSON value {document!r:.40}"
    if not document:
        return "an empty JSON object"
    keys = [str(key)[:30] for key in list(document)[:_KEYS_TOLD]]
    return f"a JSON object with the keys {', '.join(keys)}{', …' if len(document) > _KEYS_TOLD else ''}"
