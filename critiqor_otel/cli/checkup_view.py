"""A checkup as text for people, and as one JSON document."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from analyzer.report.json_form import encode_json
from analyzer.report.plain import one_line, wrapped
from analyzer.report.report import Look
from analyzer.session.model import Note
from critiqor_otel.cli.reading import Found
from critiqor_otel.conventions.remedies import Extra
from critiqor_otel.engine.checkup import Carriage, Checkup, DetectorReport, FactReport, FamilyReport

__all__ = ["FORMS", "SCHEMA_VERSION"]

SCHEMA_VERSION = "critiqor.checkup.v1"

_PIPE_WIDTH = 100  # columns where there is no terminal
_NARROWEST = 40
_COUNTED = {"tokens": "model calls or sums", "model_calls": "model calls", "messages": "model calls"}
_CARRIED = {Carriage.WHOLE: "yes", Carriage.PART: "in part", Carriage.NONE: "no"}
_SIGHT = {Carriage.WHOLE: "can run", Carriage.PART: "in part", Carriage.NONE: "can't run"}
_COLOURS = {Carriage.WHOLE: "32", Carriage.PART: "33", Carriage.NONE: "31"}
_EXTRAS = frozenset(Extra)
_NO_REMEDY = "No setting is known that brings it."


def _document(result: Checkup, found: Found, look: Look) -> Iterator[bytes]:
    _ = look
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **msgspec.to_builtins(result)}
    document["skipped"] = [_note(note) for note in found.skipped]
    document["notes"] = [_note(note) for note in found.notes]
    yield encode_json(document) + b"\n"


def _note(note: Note) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(note)
    return {key: value for key, value in told.items() if value is not None}


def _table(result: Checkup, found: Found, look: Look) -> Iterator[bytes]:
    _ = found
    for line in _lines(result, look):
        yield (line + "\n").encode()


FORMS: Mapping[str, Callable[[Checkup, Found, Look], Iterator[bytes]]] = {"table": _table, "json": _document}


def _lines(result: Checkup, look: Look) -> Iterator[str]:
    for number, family in enumerate(result.families):
        if number:
            yield ""
        yield from _family(family, look)
    if result.unknown_scopes:
        named = ", ".join(f"{scope or '(unnamed)'} ({count})" for scope, count in result.unknown_scopes.items())
        yield ""
        yield from _paragraph("", f"Spans that no table knows, by scope: {one_line(named)}.", look)


def _family(family: FamilyReport, look: Look) -> Iterator[str]:
    spans = f"{_count(family.spans, 'span')} and log records" if family.spans else "events of no span"
    yield _paint(f"{family.family}: {_count(family.runs, 'run')}, {spans}", "1", look)
    if family.scopes:
        yield from _paragraph("  ", f"written by {one_line(', '.join(family.scopes))}", look)
    yield ""
    yield "  FACT             CARRIED   SEEN"
    for name, fact in family.facts.items():
        state = _paint(_CARRIED[fact.carriage].ljust(8), _COLOURS[fact.carriage], look)
        yield f"  {_spaced(name):<15}  {state}  {_seen(name, fact)}"
    yield ""
    width = max([len("DETECTOR"), *(len(detector.failure_type) for detector in family.detectors)])
    yield f"  {'DETECTOR':<{width}}  SIGHT"
    for detector in family.detectors:
        yield _detector(detector, width, look)
    yield ""
    yield from _advice(family, look)


def _detector(detector: DetectorReport, width: int, look: Look) -> str:
    sight = _paint(_SIGHT[detector.sight].ljust(9), _COLOURS[detector.sight], look)
    needs = f"  needs {', '.join(map(_spaced, detector.lacks))}" if detector.lacks else ""
    return f"  {detector.failure_type:<{width}}  {sight}{needs}".rstrip()


def _advice(family: FamilyReport, look: Look) -> Iterator[str]:
    """Yield a line a remedy, with all that it brings; what no detector needs comes last."""
    lacking = {name: fact for name, fact in family.facts.items() if fact.carriage is not Carriage.WHOLE}
    if not lacking.keys() - _EXTRAS:
        yield "  Nothing is missing that a detector needs."
    brought: dict[str, list[str]] = {}
    for name, fact in lacking.items():
        for remedy in fact.remedies or (() if name in _EXTRAS else (_NO_REMEDY,)):
            brought.setdefault(remedy, []).append(_spaced(name))
    for remedy, names in brought.items():
        yield from _paragraph("  ", f"To get {', '.join(names)}:", look)
        yield from _paragraph("    ", remedy, look)


def _seen(name: str, fact: FactReport) -> str:
    if name in _EXTRAS:
        return f"{fact.seen} of {_count(fact.of, 'run')}"
    what = _COUNTED.get(name, "calls")
    if not fact.of:
        return f"no {what} seen"
    return f"{fact.of} {what}" if name in {"model_calls", "tool_calls"} else f"{fact.seen} of {fact.of} {what}"


def _paragraph(indent: str, text: str, look: Look) -> Iterator[str]:
    width = (look.width or _PIPE_WIDTH) - len(indent)
    return (indent + line for line in wrapped(text, max(width, _NARROWEST)))


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _paint(text: str, code: str, look: Look) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if look.colour else text
