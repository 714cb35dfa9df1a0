"""A report for programs: one JSON document (`critiqor.diagnosis.v1`), or one run a line."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from analyzer.report.report import SCHEMA_VERSION, Look, Report, RunReport
from analyzer.session.jsontext import strict_json
from analyzer.session.model import Note
from analyzer.verdict import Diagnosis

__all__ = ["document_of", "encode_json", "one_document", "run_document", "run_lines"]

# DEL and C1 in UTF-8: legal in JSON, and commands to a terminal.
_TERMINAL_BYTES = re.compile(rb"\x7f|\xc2[\x80-\x9f]")


def one_document(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the pieces of the document: schema_version, runs, skipped, notes."""
    return document_of(run_lines(report, look), report)


def document_of(lines: Iterable[bytes], remarks: Report) -> Iterator[bytes]:
    """Yield the pieces of the document whose runs are these lines; the report gives the rest."""
    yield b'{"schema_version":' + encode_json(SCHEMA_VERSION) + b',"runs":['
    between = b"\n"
    for line in lines:
        yield between + line.removesuffix(b"\n")
        between = b",\n"
    yield b'\n],"skipped":' + encode_json([_note(note) for note in remarks.skipped])
    yield b',"notes":' + encode_json([_note(note) for note in remarks.notes]) + b"}\n"


def run_lines(report: Report, look: Look) -> Iterator[bytes]:
    """Yield each run as a line of JSON."""
    _ = look
    for run in report.runs:
        yield _encoded_run(_run(run)) + b"\n"


def _run(run: RunReport) -> dict[str, Any]:
    """Return the run object; where there is a baseline, each failure says whether it is known, and why it passes."""
    document = run.diagnosis.document()
    if run.has_baseline:
        for cause in document["failure_causes"]:
            cause["known"] = run.known.get(cause["fingerprint"])
    return document


def run_document(diagnosis: Diagnosis) -> bytes:
    """Return one run's verdict as the file that lies beside its session."""
    return _encoded_run({"schema_version": SCHEMA_VERSION, **diagnosis.document()}) + b"\n"


def encode_json(value: Any) -> bytes:
    """Return the value as JSON on one line; what a terminal would obey and what UTF-8 can't hold is escaped."""
    return _encoded(value) or strict_json(value)


def _encoded_run(document: dict[str, Any]) -> bytes:
    return _encoded(document) or strict_json(msgspec.to_builtins(document))


def _encoded(value: Any) -> bytes | None:
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:  # lone surrogates, legal in JSON's escapes only
        return None
    if b"\x7f" in encoded or b"\xc2" in encoded:
        return _TERMINAL_BYTES.sub(_escaped, encoded)
    return encoded


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % match.group()[-1]


def _note(note: Note) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(note)
    return {key: value for key, value in found.items() if value is not None}
