import os
import stat
from pathlib import Path

import pytest

from critiqor_otel.errors import OutputError
from critiqor_otel.spool.whole_file import create_once, make_folder, whole_file


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def write_half(target: Path) -> None:
    with whole_file(target) as file:
        file.write(b"half")
        raise EOFError


def test_a_file_that_is_written_to_the_end_takes_its_place(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_bytes(b"old")

    with whole_file(target) as file:
        file.write(b"new")

    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["report.json"]


def test_a_file_that_is_not_written_to_the_end_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_bytes(b"old")

    with pytest.raises(EOFError):
        write_half(target)

    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["report.json"]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_bytes(b"old")

    with whole_file(target) as file:
        file.write(b"new")
        file.flush()
        seen = target.read_bytes()

    assert seen == b"old"


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    link.symlink_to(target)

    with whole_file(link) as file:
        file.write(b"new")

    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with whole_file(Path(os.devnull)) as file:
        file.write(b"gone")

    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_the_mode_of_the_old_file_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_bytes(b"old")
    target.chmod(0o640)

    with whole_file(target) as file:
        file.write(b"new")

    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"nowhere/report\.json cannot be written"),
        whole_file(tmp_path / "nowhere" / "report.json"),
    ):
        pass


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="directory"), whole_file(tmp_path):
        pass


def test_a_file_is_created_once_and_read_only(tmp_path: Path) -> None:
    target = tmp_path / "session.json"

    first, second = create_once(target, b"first"), create_once(target, b"second")

    assert (first, second) == (True, False)
    assert target.read_bytes() == b"first"
    assert stat.S_IMODE(target.stat().st_mode) == 0o444
    assert names(tmp_path) == ["session.json"]


def test_a_folder_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(OutputError, match="file/runs cannot be written"):
        make_folder(tmp_path / "file" / "runs")
