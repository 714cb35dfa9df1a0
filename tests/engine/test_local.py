import random

import pytest
from command import CAPTURES
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.diagnosis import Profile
from analyzer.report.json_form import encode_json
from analyzer.session.codec import write_session
from analyzer.session.model import Note, Session
from critiqor_otel.engine.local import diagnosed, duplicates, gather, runs_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.span import Batch, Span

FILES = sorted(CAPTURES.glob("pydantic_ai/*.otlp.jsonl")) + sorted(
    CAPTURES.glob("openinference_langchain/*.otlp.jsonl")
)


@pytest.fixture(scope="module")
def spans() -> tuple[Span, ...]:
    return tuple(gather(read_paths([str(path) for path in FILES])).spans)


def in_pieces(spans: tuple[Span, ...], seed: int, size: int) -> list[Batch]:
    shuffled = list(spans)
    random.Random(seed).shuffle(shuffled)
    return [Batch(spans=tuple(shuffled[start : start + size])) for start in range(0, len(shuffled), size)]


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 50))
def test_the_order_and_the_batches_of_spans_change_nothing(spans: tuple[Span, ...], seed: int, size: int) -> None:
    expected = verdicts([Batch(spans=spans)])

    assert verdicts(in_pieces(spans, seed, size)) == expected


def verdicts(batches: list[Batch]) -> list[bytes]:
    sessions = runs_of(gather(batches)).sessions
    reports = diagnosed(sessions, profile=Profile.STANDARD)
    return [write_session(session) for session in sessions] + [encode_json(run.diagnosis.to_dict()) for run in reports]


def test_a_batch_delivered_twice_changes_nothing(spans: tuple[Span, ...]) -> None:
    once, twice = [Batch(spans=spans)], [Batch(spans=spans), Batch(spans=spans[::-1])]

    assert verdicts(twice) == verdicts(once)


def test_repeated_deliveries_are_counted_run_by_run(spans: tuple[Span, ...]) -> None:
    sessions = runs_of(gather([Batch(spans=spans)])).sessions
    again = [span for span in spans if span.trace_id in sessions[0].trace_ids]

    counts = duplicates((*spans, *again, *again), sessions)

    assert counts == [2 * len(again), *[0] * (len(sessions) - 1)]


def test_what_batches_say_is_kept_together() -> None:
    note = Note(code="cut-file", message="cut", place="a.json")
    session = Session(run_id="run_001")

    evidence = gather([Batch(notes=(note,), skipped=2), Batch(sessions=(session,), place="runs/run_001/session.json")])

    assert (evidence.notes, evidence.passed_over) == ([note], 2)
    assert evidence.places == {"run_001": ["runs/run_001/session.json"]}
    assert runs_of(evidence).sessions == [session]


def test_nothing_gives_no_runs() -> None:
    assert runs_of(gather([])).sessions == []
