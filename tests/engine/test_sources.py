from analyzer.session.model import Session
from critiqor_otel.engine.local import gather
from critiqor_otel.engine.sources import files_of
from critiqor_otel.span import Batch, LogRecord, Span

ONE, OTHER = "1" * 32, "2" * 32


def batch(place: str, *trace_ids: str, logs: tuple[LogRecord, ...] = (), sessions: tuple[Session, ...] = ()) -> Batch:
    spans = tuple(Span(trace_id=trace_id, span_id=f"{n:016x}") for n, trace_id in enumerate(trace_ids, 1))
    return Batch(spans=spans, logs=logs, sessions=sessions, place=place)


def files(sessions: list[Session], *batches: Batch) -> dict[str, tuple[str, ...]]:
    evidence = gather(batches)
    return files_of(sessions, evidence.sources, evidence.spans, evidence.logs)


def test_a_run_has_the_files_of_its_traces_sorted() -> None:
    run, other = Session(run_id="a", trace_ids=(ONE,)), Session(run_id="b", trace_ids=(OTHER,))

    found = files([run, other], batch("z", ONE), batch("z", ONE, OTHER), batch("y", OTHER), batch("x", ONE))
    assert found == {"a": ("x", "z"), "b": ("y", "z")}


def test_log_records_and_session_files_count_too() -> None:
    session, later = Session(run_id="b"), Session(run_id="b~2", continues="b")
    record = LogRecord(trace_id=ONE)

    found = files(
        [Session(run_id="a", trace_ids=(ONE,)), session],
        batch("logs", logs=(record,)),
        batch("first", sessions=(session,)),
        batch("second", sessions=(later,)),
    )
    assert found == {"a": ("logs",), "b": ("first", "second")}


def test_all_runs_come_from_the_only_file_that_gave_evidence() -> None:
    assert files([Session(run_id="a", trace_ids=(ONE,))], batch("z", ONE), batch("empty")) == {"a": ("z",)}
