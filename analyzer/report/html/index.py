"""Many runs as a page: a list to filter and sort, each run with a link to its own page."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import structs

from analyzer.causality.graph import RunGraph
from analyzer.cause import Severity
from analyzer.report.html.assets import Assets, assets_of, licences, template
from analyzer.report.html.block import embedded
from analyzer.report.html.titles import title_of
from analyzer.session.instants import format_instant
from analyzer.session.model import Note, Session
from analyzer.verdict import Diagnosis

__all__ = ["IndexRow", "index_assets", "index_page", "row_of", "row_of_file", "started"]

_SCRIPTS = ("core.js", "words.js", "runs.js")
_PACKAGES = ("preact.js", "preact-hooks.js")
_WITHOUT_SCRIPT = 300  # rows that show even where no script runs
_NOTES = 100
_LONGEST = 500  # characters of a name
_NO_GRAPH = RunGraph()


class IndexRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the list tells of a run."""

    run_id: str
    link: str | None = None
    """The address of its page; None where it has none."""
    agent: str | None = None
    status: str = "unknown"
    readiness: str = "insufficient_evidence"
    trust: int | None = None
    failure: str | None = None
    """The worst failure; None where there is none."""
    severity: str | None = None
    failures: int = 0
    tool_calls: int | None = None
    tool_errors: int | None = None
    tokens: int | None = None
    tokens_complete: bool = True
    seconds: float | None = None
    started: str | None = None


class _Agent(msgspec.Struct):
    name: str | None = None
    framework: str | None = None


class _Cause(msgspec.Struct):
    type: str = ""
    severity: Severity = Severity.MEDIUM


class _Primary(msgspec.Struct):
    root_cause_failure_type: str | None = None


class _Metrics(msgspec.Struct):
    latency: float | None = None


class _Tokens(msgspec.Struct):
    total: int | None = None
    complete: bool = False


class _Evidence(msgspec.Struct):
    tool_calls: int | None = None
    tool_errors: int | None = None
    tokens: _Tokens = msgspec.field(default_factory=_Tokens)


class _Verdict(msgspec.Struct):
    """The part of `critiqor.diagnosis.v1` that the list tells."""

    run_id: str = ""
    agent: _Agent = msgspec.field(default_factory=_Agent)
    status: str = "unknown"
    readiness_level: str = "insufficient_evidence"
    trust_score: int | None = None
    failure_causes: list[_Cause] = []
    primary_diagnosis: _Primary = msgspec.field(default_factory=_Primary)
    runtime_metrics: _Metrics = msgspec.field(default_factory=_Metrics)
    evidence_summary: _Evidence = msgspec.field(default_factory=_Evidence)


_FILE = msgspec.json.Decoder(_Verdict)


def row_of(verdict: Diagnosis, *, link: str | None = None, started: str | None = None) -> IndexRow:
    """Return what the list tells of a verdict."""
    plain: Any = structs.replace(verdict, causal_graph=_NO_GRAPH).to_dict()
    return _row(msgspec.convert(plain, _Verdict), link, started)


def row_of_file(document: bytes, *, link: str | None = None, started: str | None = None) -> IndexRow:
    """Return what the list tells of a verdict that lies beside its session.

    Raises:
        msgspec.DecodeError: it is no verdict.
    """
    return _row(_FILE.decode(document), link, started)


def started(session: Session) -> str | None:
    """Return when a run started, None where no event tells a time."""
    times = [event.time_ns for event in session.events if event.time_ns is not None]
    return str(format_instant(min(times))) if times else None


def _row(verdict: _Verdict, link: str | None, began: str | None) -> IndexRow:
    causes, primary = verdict.failure_causes, verdict.primary_diagnosis.root_cause_failure_type
    main = next((cause for cause in causes if cause.type == primary), None)
    main = (
        main if main is not None else max(causes, key=lambda cause: list(Severity).index(cause.severity), default=None)
    )
    evidence = verdict.evidence_summary
    return IndexRow(
        run_id=verdict.run_id[:_LONGEST],
        link=link,
        agent=(verdict.agent.name or verdict.agent.framework or "")[:_LONGEST] or None,
        status=verdict.status,
        readiness=verdict.readiness_level,
        trust=verdict.trust_score,
        failure=None if main is None else title_of(main.type),
        severity=None if main is None else main.severity.value,
        failures=len(causes),
        tool_calls=evidence.tool_calls,
        tool_errors=evidence.tool_errors,
        tokens=evidence.tokens.total,
        tokens_complete=evidence.tokens.complete,
        seconds=verdict.runtime_metrics.latency,
        started=began,
    )


def index_assets(*, live: bool) -> Assets:
    """Return what the page holds besides its contents."""
    return assets_of(_SCRIPTS, vendored=_PACKAGES, asks=live)


def index_page(
    rows: Iterable[IndexRow],
    *,
    notes: Sequence[Note] = (),
    live: str | None = None,
    title: str = "Runs",
) -> bytes:
    """Return the page of a list of runs; with `live`, an address on its own server, it asks there for new ones."""
    found = list(rows)
    return (
        template("index.html.j2")
        .render(
            assets=index_assets(live=live is not None),
            licences=[one for one in licences() if one[0].startswith("preact ")],
            title=title,
            live=live,
            rows=found[:_WITHOUT_SCRIPT],
            left_out=max(0, len(found) - _WITHOUT_SCRIPT),
            notes=notes[:_NOTES],
            more_notes=max(0, len(notes) - _NOTES),
            block=embedded([msgspec.to_builtins(row) for row in found]),
        )
        .encode("utf-8", "replace")
    )
