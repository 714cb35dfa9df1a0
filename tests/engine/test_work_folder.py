"""A job goes on only with work that is its own, and in a folder that is its own."""

import fcntl
from pathlib import Path

import pytest

from critiqor_otel.engine.work_folder import Plan, state_of, usual_folder, work_folder
from critiqor_otel.errors import WorkFolderError
from critiqor_otel.formats.inputs import Input

PLAN = Plan(version="1", request="r", inputs="i", partitions=4)


def leave_work(folder: Path, plan: Plan = PLAN) -> None:
    """Begin a job and break off, with one file done."""
    job = work_folder(str(folder), plan, resume=False)
    store, _ = job.__enter__()
    store.write("map.done", b"done")
    assert not job.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "work"


def test_work_is_gone_on_with_in_as_many_partitions_as_it_was_begun_with(folder: Path) -> None:
    leave_work(folder)

    asked = Plan(version="1", request="r", inputs="i", partitions=9)
    with work_folder(str(folder), asked, resume=True) as (store, plan):
        assert plan == PLAN
        assert store.read("map.done") == b"done"

    assert not folder.exists()


def test_without_resume_what_is_left_is_removed(folder: Path) -> None:
    leave_work(folder)

    with work_folder(str(folder), PLAN, resume=False) as (store, _):
        assert store.read("map.done") is None


def test_there_may_be_nothing_to_go_on_with(folder: Path) -> None:
    with work_folder(str(folder), PLAN, resume=True) as (_, plan):
        assert plan is PLAN


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (Plan(version="2", request="r", inputs="i", partitions=4), "holds the work of another request"),
        (Plan(version="1", request="s", inputs="i", partitions=4), "holds the work of another request"),
        (Plan(version="1", request="r", inputs="j", partitions=4), "the input changed since this work began"),
    ],
)
def test_work_of_another_job_is_not_gone_on_with(folder: Path, now: Plan, said: str) -> None:
    leave_work(folder)

    with pytest.raises(WorkFolderError, match=said), work_folder(str(folder), now, resume=True):
        pass
    assert (folder / "map.done").exists()


def test_a_plan_that_cannot_be_read_is_no_work_of_ours(folder: Path) -> None:
    leave_work(folder)
    (folder / "plan.json").write_bytes(b'{"version": 1')

    with pytest.raises(WorkFolderError, match="holds no work of ours"), work_folder(str(folder), PLAN, resume=True):
        pass


def test_files_of_others_are_left_alone(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    (folder / "thesis.txt").write_text("years of work")

    with pytest.raises(WorkFolderError, match="no work of ours"), work_folder(str(folder), PLAN, resume=False):
        pass
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_plan_that_is_not_ours_does_not_make_the_folder_ours(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    for name in ("plan.json", "thesis.txt", "lock"):
        (folder / name).write_text('{"resource_changes": []}')

    with pytest.raises(WorkFolderError, match="no work of ours"), work_folder(str(folder), PLAN, resume=False):
        pass
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == {
        "plan.json": 24,
        "thesis.txt": 24,
        "lock": 24,
    }


def test_a_folder_that_others_may_write_to_is_not_believed(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)

    with pytest.raises(WorkFolderError, match="can be written by others"), work_folder(str(folder), PLAN, resume=False):
        pass


def test_a_folder_in_use_is_left_to_who_uses_it(folder: Path) -> None:
    with (
        work_folder(str(folder), PLAN, resume=False),
        pytest.raises(WorkFolderError, match="is in use by another job"),
        work_folder(str(folder), PLAN, resume=False),
    ):
        pass


def test_a_file_is_no_folder(folder: Path) -> None:
    folder.write_bytes(b"")

    with pytest.raises(WorkFolderError, match="work can't be used: "), work_folder(str(folder), PLAN, resume=False):
        pass


def test_a_disk_that_is_full_is_told_with_the_folder_and_other_faults_as_what_they_are(folder: Path) -> None:
    full = OSError(28, "No space left on device")
    with (
        pytest.raises(WorkFolderError, match="work can't be written: No space"),
        work_folder(str(folder), PLAN, resume=False),
    ):
        raise full
    with pytest.raises(PermissionError), work_folder(str(folder), PLAN, resume=False):
        raise PermissionError(13, "Permission denied")


def test_the_usual_folder_of_a_request_is_another_one_while_it_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    usual = usual_folder("request")
    Path(usual).mkdir(mode=0o700)

    with (Path(usual) / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert usual_folder("request").startswith(f"{usual}-")
    assert usual_folder("request") == usual


def test_work_elsewhere_needs_no_lock(tmp_path: Path) -> None:
    address = f"memory://{tmp_path.name}/work"
    with work_folder(address, PLAN, resume=False) as (store, _):
        store.write("map.done", b"")
        assert store.names() == {"plan.json", "map.done"}
    assert store.names() == frozenset()


def test_inputs_that_changed_have_another_state(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    inputs = [Input(path=str(file), place="one"), Input(path=f"memory://{tmp_path.name}/none", place="none")]

    missing = state_of(inputs)
    file.write_bytes(b"{}")

    assert state_of(inputs) != missing
    assert state_of(inputs) == state_of(inputs)
