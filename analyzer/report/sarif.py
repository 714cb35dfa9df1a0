"""A report as SARIF 2.1.0, which code scanning services and editors read.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 27 March 2020. A failure type is a rule
with its page for help, a failure a result at the event where the mistake was made, a failure's fingerprint a partial
fingerprint, and a failure that a baseline knows is suppressed.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any
from urllib.parse import quote

from analyzer.cause import FailureCause, Severity
from analyzer.detectors.detector import Detector
from analyzer.detectors.pages import page_of
from analyzer.detectors.registry import ALL
from analyzer.report import words
from analyzer.report.json_form import encode_json
from analyzer.report.plain import one_line
from analyzer.report.report import Look, Report, RunReport
from analyzer.session.model import Note

__all__ = ["render"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Mapping[Severity, str] = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}
# GitHub sorts alerts by a number from 0 to 10 in the rule's or the result's properties.
_RANKS: Mapping[Severity, float] = {
    Severity.CRITICAL: 95.0,
    Severity.HIGH: 75.0,
    Severity.MEDIUM: 50.0,
    Severity.LOW: 20.0,
}
_FINGERPRINT = "critiqorFailure/v1"
_PLACES = 50  # events of one failure; a loop of a thousand calls is seen in fewer
_RULE_INDEX: Mapping[str, int] = {detector.failure_type: place for place, detector in enumerate(ALL)}


def render(report: Report, look: Look) -> Iterator[bytes]:
    """Yield the log in pieces: one run of the tool, a result a failure."""
    _ = look
    head = {"driver": _driver()}
    yield b'{"$schema":' + encode_json(_SCHEMA) + b',"version":"2.1.0","runs":[{"tool":' + encode_json(head)
    yield b',"columnKind":"unicodeCodePoints","results":['
    between = b"\n"
    for run in report.runs:
        for cause in run.diagnosis.failure_causes:
            yield between + encode_json(_result(run, cause))
            between = b",\n"
    told = [_notification(note) for note in (*report.skipped, *report.notes)]
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": told}
    yield b'\n],"invocations":[' + encode_json(invocation) + b"]}]}\n"


def _driver() -> dict[str, Any]:
    return {
        "name": "critiqor-otel",
        "version": metadata.version("critiqor-otel"),
        "rules": [_rule(detector) for detector in ALL],
    }


def _rule(detector: Detector) -> dict[str, Any]:
    page = page_of(detector.failure_type) or ""
    return {
        "id": detector.failure_type,
        "name": "".join(word.capitalize() for word in detector.failure_type.split("_")),
        "shortDescription": {"text": f"{detector.summary}."},
        "fullDescription": {"text": f"{detector.summary}."},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": [detector.dimension.value], "since": detector.since},
    }


def _result(run: RunReport, cause: FailureCause) -> dict[str, Any]:
    first, *others = cause.evidence[:_PLACES] or ("",)
    rule = _RULE_INDEX.get(cause.type)
    found: dict[str, Any] = {
        "ruleId": cause.type,
        **({} if rule is None else {"ruleIndex": rule}),
        "level": _LEVELS[cause.severity],
        "rank": _RANKS[cause.severity],
        "message": {"text": _message(run, cause)},
        "locations": [_location(run, first)],
        "partialFingerprints": {_FINGERPRINT: cause.fingerprint},
        "properties": _properties(run, cause),
    }
    if others:
        found["relatedLocations"] = [
            {"id": number, **_location(run, event_id)} for number, event_id in enumerate(others, start=1)
        ]
    known = run.known.get(cause.fingerprint)
    if known is not None:
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": known}]
    if run.has_baseline:
        found["baselineState"] = "new" if known is None else "unchanged"
    return found


def _message(run: RunReport, cause: FailureCause) -> str:
    fix = f" {cause.recommendation}" if cause.recommendation else ""
    return one_line(f"{cause.description.rstrip('.')} (run {run.diagnosis.run_id}).{fix}")


def _location(run: RunReport, event_id: str) -> dict[str, Any]:
    name = one_line(event_id)
    logical = {"name": name, "fullyQualifiedName": f"{one_line(run.diagnosis.run_id)}/{name}", "kind": "member"}
    return {**_in_file(run.files), "logicalLocations": [logical]}


def _in_file(files: Sequence[str]) -> dict[str, Any]:
    """Return the first file as a location: a URI that is relative where its path is.

    Who shows results beside code asks for a line; an event has none, so it is the file's first.
    """
    if not files:
        return {}
    path = files[0].replace("\\", "/")
    uri = f"file://{quote(path)}" if path.startswith("/") else quote(path)
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}


def _properties(run: RunReport, cause: FailureCause) -> dict[str, Any]:
    return {
        "runId": one_line(run.diagnosis.run_id),
        "agent": one_line(words.agent(run.diagnosis)),
        "severity": cause.severity.value,
        "confidence": cause.confidence.value,
        "basis": cause.basis,
        "impact": cause.impact,
        "marks": list(cause.marks),
        "spans": [f"{span.trace_id}:{span.span_id}" for span in cause.spans[:_PLACES]],
    }


def _notification(note: Note) -> dict[str, Any]:
    place = f"{note.place}: " if note.place else ""
    return {
        "descriptor": {"id": note.code},
        "level": "warning",
        "message": {"text": one_line(f"{place}{note.message}")},
    }
