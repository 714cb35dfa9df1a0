"""A job in parts gives what one reading gives, byte for byte, however the input is divided."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from command import CAPTURES
from hypothesis import given, settings
from hypothesis import strategies as st
from scattered import scatter, single_records

from analyzer.diagnosis import Profile
from analyzer.report.json_form import run_lines
from analyzer.report.report import Look, Report, RunReport
from analyzer.session.codec import write_session
from analyzer.session.model import Note
from critiqor_otel.engine.job import Job
from critiqor_otel.engine.lines import line_of
from critiqor_otel.engine.local import diagnosed, gather, judged, runs_of
from critiqor_otel.engine.parts import in_parts
from critiqor_otel.engine.reducing import Purpose
from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import Task, perform_here
from critiqor_otel.formats.inputs import inputs_of
from critiqor_otel.formats.reading import read_paths
from critiqor_otel.reconstruct.grouping import GroupBy

CASES = ("*/repeat_identical_calls*", "openinference_openai/*", "otel_openai_v2/*", "openclaw/*")
NO_AGENT = json.dumps(
    {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "GET /", "kind": 2}]}]}
        ]
    }
).encode()


class Here:
    """An engine that runs all in this process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        pass

    def run(self, tasks: Sequence[Task], store: Store) -> Iterator[tuple[Task, Any]]:
        return perform_here(tasks, store)


class Found(msgspec.Struct):
    """What was made of an input."""

    lines: list[bytes]
    notes: list[tuple[str, str]]
    silent: tuple[str, ...]


@pytest.fixture(scope="module")
def records() -> list[bytes]:
    paths = [path for pattern in CASES for path in sorted(CAPTURES.glob(f"{pattern}.otlp.jsonl"))]
    return [*single_records(dict.fromkeys(paths)), NO_AGENT]


@pytest.fixture(scope="module")
def expected(records: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> dict[GroupBy | None, Found]:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "all.jsonl").write_bytes(b"\n".join(records))
    return {group_by: at_once(folder, group_by) for group_by in (None, *GroupBy)}


def at_once(folder: Path, group_by: GroupBy | None = None) -> Found:
    runs = runs_of(gather(read_paths([str(folder)])), group_by=group_by)
    reports: Iterator[RunReport] = diagnosed(runs.sessions, profile=Profile.STANDARD)
    return Found(list(run_lines(Report(runs=reports), Look())), told(runs.notes), runs.silent_traces)


def in_a_job(folder: Path, *, partitions: int, group_by: GroupBy | None = None, part_bytes: int = 1 << 25) -> Found:
    purpose = Purpose(judge=partial(judged, profile=Profile.STANDARD), product=line_of, group_by=group_by)
    with tempfile.TemporaryDirectory() as work:
        job = Job(Here(), Store(work), partitions=partitions)
        survey = job.survey([part for one in inputs_of([str(folder)]) for part in in_parts(one, part_bytes)])
        outcome = job.reduce(purpose)
        return Found(list(job.products(outcome)), told((*survey.notes, *outcome.notes)), outcome.silent_traces)


def told(notes: Sequence[Note]) -> list[tuple[str, str]]:
    return sorted((note.code, note.message) for note in notes)


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    files=st.integers(1, 9),
    partitions=st.integers(1, 12),
    group_by=st.sampled_from([None, *GroupBy]),
)
def test_however_an_input_is_divided_its_runs_are_the_same(
    records: list[bytes],
    expected: dict[GroupBy | None, Found],
    seed: int,
    files: int,
    partitions: int,
    group_by: GroupBy | None,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scatter(records, Path(folder), files=files, seed=seed)

        found = in_a_job(Path(folder), partitions=partitions, group_by=group_by)

    assert found == expected[group_by]


def test_what_is_delivered_twice_counts_once_wherever_it_lies(
    records: list[bytes], expected: dict[GroupBy | None, Found], tmp_path: Path
) -> None:
    scatter([*records, *records[::3]], tmp_path, files=5, seed=1)

    found = in_a_job(tmp_path, partitions=4)

    assert found.lines == expected[None].lines
    assert [code for code, _ in found.notes].count("duplicate-spans") == 1


def test_a_file_is_cut_without_a_trace_of_it(
    records: list[bytes], expected: dict[GroupBy | None, Found], tmp_path: Path
) -> None:
    scatter(records, tmp_path, files=1, seed=2)

    assert in_a_job(tmp_path, partitions=3, part_bytes=20_000) == expected[None]
    (whole,) = inputs_of([str(tmp_path)])
    assert len(in_parts(whole, 20_000)) > 2


def test_notes_on_a_part_count_lines_from_the_start_of_the_file(tmp_path: Path, records: list[bytes]) -> None:
    dirty = b"\n".join([*records[:300], b"no json at all", *records[300:600]])
    (tmp_path / "dirty.jsonl").write_bytes(dirty)
    job = Job(Here(), Store(str(tmp_path / "work")), partitions=1)

    survey = job.survey([part for one in inputs_of([str(tmp_path / "dirty.jsonl")]) for part in in_parts(one, 10_000)])

    assert [note.place for note in survey.notes] == [f"{tmp_path / 'dirty.jsonl'}:301"]


def test_session_files_and_what_carries_them_on_meet(tmp_path: Path, records: list[bytes]) -> None:
    scatter(records[:200], tmp_path, files=2, seed=3)
    rebuilt = runs_of(gather(read_paths([str(tmp_path)]))).sessions
    for number, session in enumerate((*rebuilt[:3], rebuilt[0])):  # the first one twice, and all beside their spans
        later = msgspec.structs.replace(session, run_id=f"{session.run_id}~2", continues=session.run_id)
        (tmp_path / f"{number}.session.json").write_bytes(write_session(session))
        (tmp_path / f"{number}.later.session.json").write_bytes(write_session(later))

    assert in_a_job(tmp_path, partitions=5) == at_once(tmp_path)


def test_the_cases_tell_of_traces_that_only_messages_or_time_join(expected: dict[GroupBy | None, Found]) -> None:
    told_of_all = b"".join(expected[None].lines)

    assert b"joined-by-messages" in told_of_all
    assert expected[None].silent
