"""What a second `run` could not make part of a session stays where it was said to be kept."""

from pathlib import Path

from critiqor_otel.cli.own_spool import moved_in, own_runs
from critiqor_otel.spool.kept_aside import KeptAside
from critiqor_otel.spool.segments import Position, segment_path
from critiqor_otel.spool.spool_folder import SpoolFolder


def test_what_was_kept_aside_is_not_removed(tmp_path: Path) -> None:
    own = own_runs(tmp_path, "second")
    SpoolFolder(own).make()
    kept = KeptAside(SpoolFolder(own).aside).keep(b"evidence", Position(1, 0), reason="unsealed")

    assert moved_in([], own, tmp_path) == []
    assert kept.read_bytes() == b"evidence"


def test_what_was_not_sealed_is_not_removed(tmp_path: Path) -> None:
    own = own_runs(tmp_path, "second")
    SpoolFolder(own).make()
    waiting = segment_path(SpoolFolder(own).journal, 1)
    waiting.write_bytes(b"acknowledged")

    assert moved_in([], own, tmp_path) == []
    assert waiting.read_bytes() == b"acknowledged"


def test_nothing_else_stays(tmp_path: Path) -> None:
    own = own_runs(tmp_path, "second")
    SpoolFolder(own).make()

    assert moved_in([], own, tmp_path) == []
    assert not own.exists()
