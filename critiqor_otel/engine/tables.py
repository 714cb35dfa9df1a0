"""Runs, causes and events as columns: three tables in Parquet, joined by `run_id`, for DuckDB, pandas and Spark.

What has a shape of its own in every run (arguments, results, errors) is JSON text; ids, names, times and numbers are
columns. A number or time that 64 bits can't hold is null. Loaded only where tables are asked for.
"""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import IO, Any

from analyzer.report.json_form import encode_json
from analyzer.session.shapes import is_list, is_object
from critiqor_otel.engine.reducing import Judged
from critiqor_otel.engine.store import Store

__all__ = ["TABLES", "part_of", "tables_of"]

_pa: Any = import_module("pyarrow")  # which has no types of its own
_pq: Any = import_module("pyarrow.parquet")
_BEYOND = 1 << 63
_ROWS = 8_192  # held before they are written
_TEXTS: Any = _pa.list_(_pa.string())
_SPANS: Any = _pa.list_(_pa.struct([("trace_id", _pa.string()), ("span_id", _pa.string())]))
_NOTES: Any = _pa.list_(_pa.struct([("code", _pa.string()), ("message", _pa.string())]))
_MOMENT: Any = _pa.timestamp("ns", tz="UTC")
_COUNT: Any = _pa.int64()
_TEXT: Any = _pa.string()
_NUMBER: Any = _pa.float64()
_YES: Any = _pa.bool_()

TABLES: dict[str, Any] = {
    "runs": _pa.schema(
        [
            ("run_id", _TEXT),
            ("started", _MOMENT),
            ("trace_ids", _TEXTS),
            ("agent_name", _TEXT),
            ("agent_framework", _TEXT),
            ("agent_version", _TEXT),
            ("status", _TEXT),
            ("trust_score", _COUNT),
            ("readiness_level", _TEXT),
            ("evidence_level", _TEXT),
            ("scores", _pa.map_(_pa.string(), _pa.int64())),
            ("failures", _COUNT),
            ("primary_type", _TEXT),
            ("primary_severity", _TEXT),
            ("primary_description", _TEXT),
            ("explanation", _TEXT),
            ("latency", _NUMBER),
            ("retries", _COUNT),
            ("events", _COUNT),
            ("tool_calls", _COUNT),
            ("tool_errors", _COUNT),
            ("model_calls", _COUNT),
            ("input_tokens", _COUNT),
            ("output_tokens", _COUNT),
            ("cached_input_tokens", _COUNT),
            ("total_tokens", _COUNT),
            ("tokens_complete", _YES),
            ("token_waste", _COUNT),
            ("duplicate_calls", _COUNT),
            ("missing", _TEXTS),
            ("files", _TEXTS),
            ("notes", _NOTES),
        ]
    ),
    "causes": _pa.schema(
        [
            ("run_id", _TEXT),
            ("position", _COUNT),
            ("type", _TEXT),
            ("severity", _TEXT),
            ("confidence", _TEXT),
            ("basis", _TEXT),
            ("rule", _TEXT),
            ("impact", _COUNT),
            ("description", _TEXT),
            ("root_cause", _TEXT),
            ("recommendation", _TEXT),
            ("evidence", _TEXTS),
            ("spans", _SPANS),
            ("marks", _TEXTS),
            ("fingerprint", _TEXT),
        ]
    ),
    "events": _pa.schema(
        [
            ("run_id", _TEXT),
            ("position", _COUNT),
            ("event_id", _TEXT),
            ("event", _TEXT),
            ("event_type", _TEXT),
            ("time", _MOMENT),
            ("source_layer", _TEXT),
            ("tool_name", _TEXT),
            ("tool_call_id", _TEXT),
            ("status", _TEXT),
            ("duration_ms", _NUMBER),
            ("error", _TEXT),
            ("payload", _TEXT),
            ("trace_id", _TEXT),
            ("span_id", _TEXT),
        ]
    ),
}
"""The columns of each table, in order."""


def part_of(table: str, partition: int) -> str:
    """Return the name of a part of a table in the store."""
    return f"reduce-{partition:06d}.{table}.parquet"


@contextmanager
def tables_of(partition: int, store: Store) -> Generator["_Sheets"]:
    """Yield what takes the runs of a partition; its three parts are in the store when the block ends well.

    Raises:
        OutputError: they can't be written.
    """
    with ExitStack() as stack:
        files = {table: stack.enter_context(store.writing(part_of(table, partition))) for table in TABLES}
        sheets = _Sheets(files)
        yield sheets
        sheets.finish()


class _Sheets:
    """The three tables while they are written."""

    def __init__(self, files: dict[str, IO[bytes]]) -> None:
        self._sheets = {table: _Sheet(file, TABLES[table]) for table, file in files.items()}

    def __call__(self, run: Judged) -> None:
        """Add a run."""
        document = run.report.diagnosis.to_dict()
        self._sheets["runs"].add(_run(document, run))
        for position, cause in enumerate(document["failure_causes"]):
            self._sheets["causes"].add(_cause(document["run_id"], position, cause))
        for row in _events(run):
            self._sheets["events"].add(row)

    def finish(self) -> None:
        """Write what waits."""
        for sheet in self._sheets.values():
            sheet.finish()


class _Sheet:
    """One table while it is written, some rows at a time."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._schema = schema
        self._writer: Any = _pq.ParquetWriter(file, schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            self._write()

    def finish(self) -> None:
        self._write()
        self._writer.close()

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        try:
            table = _pa.Table.from_pylist(rows, schema=self._schema)
        except (UnicodeEncodeError, OverflowError, _pa.ArrowInvalid):  # what Parquet can't hold
            table = _pa.Table.from_pylist([_mended(row) for row in rows], schema=self._schema)
        self._writer.write_table(table)


def _run(document: dict[str, Any], run: Judged) -> dict[str, Any]:
    agent, primary, cost = document["agent"], document["primary_diagnosis"], document["cost_analysis"]
    metrics, summary = document["runtime_metrics"], document["evidence_summary"]
    tokens: dict[str, Any] = summary["tokens"] or {}
    return {
        **{name: document[name] for name in ("run_id", "trace_ids", "status", "trust_score", "readiness_level")},
        "started": min((event.time_ns for event in run.session.events if event.time_ns is not None), default=None),
        **{f"agent_{part}": agent[part] for part in ("name", "framework", "version")},
        "evidence_level": document["evidence_level"],
        "scores": list(document["scores"].items()),
        "failures": len(document["failure_causes"]),
        "primary_type": primary["root_cause_failure_type"],
        "primary_severity": primary["severity"],
        "primary_description": primary["description"],
        "explanation": primary["causal_chain_explanation"],
        "latency": metrics["latency"],
        "retries": metrics["retries"],
        "events": summary["event_count"],
        **{name: summary[name] for name in ("tool_calls", "tool_errors", "model_calls", "missing")},
        **{f"{kind}_tokens": tokens.get(kind) for kind in ("input", "output", "cached_input", "total")},
        "tokens_complete": tokens.get("complete"),
        **{name: cost[name] for name in ("token_waste", "duplicate_calls")},
        "files": list(run.report.files),
        "notes": [{"code": note["code"], "message": note["message"]} for note in document["notes"]],
    }


def _cause(run_id: str, position: int, cause: dict[str, Any]) -> dict[str, Any]:
    root = cause["root_cause"]
    return {
        **cause,
        "run_id": run_id,
        "position": position,
        "root_cause": None if root is None else root["description"],
    }


def _events(run: Judged) -> Iterator[dict[str, Any]]:
    for position, event in enumerate(run.session.events):
        yield {
            "run_id": run.session.run_id,
            "position": position,
            "event_id": event.event_id,
            "event": str(event.event),
            "event_type": event.event_type,
            "time": event.time_ns,
            "source_layer": event.source_layer,
            "tool_name": event.tool_name,
            "tool_call_id": event.tool_call_id,
            "status": event.status,
            "duration_ms": event.duration_ms,
            "error": _json(event.error),
            "payload": _json(event.payload),
            "trace_id": None if event.span is None else event.span.trace_id,
            "span_id": None if event.span is None else event.span.span_id,
        }


def _json(value: Any) -> str | None:
    return None if value is None else encode_json(value).decode()


def _mended(value: Any) -> Any:
    """Return a value without halves of characters, and without numbers beyond 64 bits; payloads hold them as text."""
    if isinstance(value, int) and not -_BEYOND <= value < _BEYOND:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if is_object(value):
        return {key: _mended(inside) for key, inside in value.items()}
    return [_mended(inside) for inside in value] if is_list(value) else value
