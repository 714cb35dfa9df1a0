"""What an engine's tasks leave is whole or not there, in a folder here as in one that fsspec reaches."""

import pickle
from pathlib import Path

import pytest

from critiqor_otel.engine.store import Store
from critiqor_otel.engine.tasks import done_name, kept_result
from critiqor_otel.errors import OutputError


@pytest.fixture(params=["here", "elsewhere"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    where = tmp_path / "store" if request.param == "here" else f"memory://{tmp_path.name}/store"
    return Store(str(where))


def test_what_is_written_is_read_by_whoever_has_the_address(store: Store) -> None:
    store.write("one", b"0123456789")

    there: Store = pickle.loads(pickle.dumps(store))  # noqa: S301  # as it travels to a worker
    assert there.read("one") == b"0123456789"
    assert list(there.ranges("one", [(0, 3), (7, 2)])) == [b"012", b"78"]
    assert there.names() == {"one"}


def test_a_file_that_was_not_finished_is_not_there(store: Store) -> None:
    with pytest.raises(TypeError), store.writing("half") as file:
        file.writelines([b"the first ha", None])  # type: ignore[list-item]

    assert store.read("half") is None
    assert store.names() == frozenset()


@pytest.mark.parametrize("left", [0, 5, -1])
def test_a_result_that_is_cut_counts_for_none(store: Store, left: int) -> None:
    whole = pickle.dumps(["a", "b"])
    store.write(done_name("map"), whole)
    assert kept_result("map", store) == ["a", "b"]

    store.write(done_name("map"), whole[:left])
    assert kept_result("map", store) is None


def test_what_is_removed_is_gone_and_may_be_removed_again(store: Store) -> None:
    store.write("one", b"1")
    store.write("two", b"2")

    for _ in range(2):
        store.remove("one")
        assert store.names() == {"two"}
    for _ in range(2):
        store.clear()
        assert store.names() == frozenset()


def test_where_nothing_can_be_written_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(OutputError, match="file/store/one cannot be written: "):
        Store(str(tmp_path / "file" / "store")).write("one", b"1")
