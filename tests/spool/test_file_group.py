import resource
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.session.model import Event, Session
from critiqor_otel.errors import OutputError
from critiqor_otel.spool.file_group import NewFile, create_group
from critiqor_otel.spool.sealed_runs import Arrival, Sealed, seal, seal_all


def session(run_id: str, content: str) -> Session:
    return Session(run_id=run_id, events=(Event(event_id="e", event="decision", event_type="plan", payload=content),))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_files_of_a_group_are_whole_and_read_only(tmp_path: Path) -> None:
    sets = [[NewFile(tmp_path / f"{number}-{part}", b"x" * number) for part in "ab"] for number in range(20)]

    outcomes = create_group(sets)

    assert outcomes == [True] * 20
    assert files(tmp_path) == {file.path.name: file.content for files in sets for file in files}
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o444}


def test_nothing_of_a_set_is_written_whose_first_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "first").write_bytes(b"old")

    outcomes = create_group([[NewFile(tmp_path / "first", b"new"), NewFile(tmp_path / "second", b"new")]])

    assert outcomes == [False]
    assert files(tmp_path) == {"first": b"old"}


def test_a_set_that_cannot_be_written_keeps_no_other_from_it(tmp_path: Path) -> None:
    nowhere, somewhere = NewFile(tmp_path / "nowhere" / "file", b"x"), NewFile(tmp_path / "file", b"x")

    failed, written = create_group([[nowhere], [somewhere]])

    assert isinstance(failed, OutputError)
    assert str(failed).startswith(f"{nowhere.path} cannot be written: ")
    assert written is True
    assert files(tmp_path) == {"file": b"x"}


def test_a_group_may_be_larger_than_what_a_process_may_have_open(tmp_path: Path) -> None:
    most, hardest = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 50, hardest))
    try:
        outcomes = create_group(
            [[NewFile(tmp_path / f"{number}-{part}", b"x") for part in "ab"] for number in range(99)]
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hardest))

    assert outcomes == [True] * 99


def test_no_group_is_no_trouble() -> None:
    assert create_group([]) == []


sessions = st.lists(
    st.builds(session, st.sampled_from(["a", "b", "a~2"]), st.sampled_from(["x", "y", "z"])), max_size=8
)


@given(told=sessions)
def test_sessions_sealed_together_lie_as_if_sealed_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, told: list[Session]
) -> None:
    together, alone = tmp_path_factory.mktemp("together"), tmp_path_factory.mktemp("alone")
    outcomes = seal_all([(one, Arrival()) for one in told], runs=together)

    one_by_one = [seal(one, Arrival(), runs=alone) for one in told]

    assert all(isinstance(outcome, Sealed) for outcome in outcomes)
    assert files(together) == files(alone)
    assert [outcome.folder.name for outcome in outcomes if isinstance(outcome, Sealed)] == [
        sealed.folder.name for sealed in one_by_one
    ]
