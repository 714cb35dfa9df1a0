import os
import threading
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spool_support import read_all, record, written

from critiqor_otel.errors import JournalError
from critiqor_otel.spool.journal import Journal, JournalLimits
from critiqor_otel.spool.journal_reader import Damage, JournalReader, Stored
from critiqor_otel.spool.record import HEADER_SIZE, MAGIC, frame
from critiqor_otel.spool.segments import Position, segment_path, segments

LIMITS = JournalLimits(segment=200)


def test_what_was_written_is_read_in_the_same_order(tmp_path: Path) -> None:
    records = [record(bytes([number]) * number) for number in range(40)]
    written(tmp_path, records, LIMITS)

    assert [found.record for found in read_all(tmp_path)] == records
    assert len(segments(tmp_path)) > 1


def test_nothing_is_written_into_a_folder_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    folder.mkdir()
    journal = Journal(folder, limits=LIMITS)
    journal.write(record(b"before"))
    folder.rename(tmp_path / "elsewhere")

    for _ in range(2):
        with pytest.raises(JournalError, match="No such file or directory"):
            journal.write(record(b"away"))
    (tmp_path / "elsewhere").rename(folder)
    journal.write(record(b"after"))
    journal.close()

    assert [found.record.payload for found in read_all(folder)] == [b"before", b"after"]


def test_a_reader_takes_what_came_since_it_was_asked_last(tmp_path: Path) -> None:
    reader = JournalReader(tmp_path, finished=0)
    journal = Journal(tmp_path, limits=LIMITS)
    found = []
    for number in range(20):
        journal.write(record(b"x" * 50, refused=number))
        found += [stored.record.refused for stored in reader.read() if isinstance(stored, Stored)]
    journal.close()

    assert found == list(range(20))
    assert reader.unread_bytes() == 0


def test_a_record_is_found_again_by_its_place(tmp_path: Path) -> None:
    records = [record(b"one"), record(b"two" * 100), record(b"three")]
    written(tmp_path, records, LIMITS)
    places = [found.position for found in read_all(tmp_path)]
    reader = JournalReader(tmp_path, finished=0)

    assert [reader.read_at(place) for place in places] == records
    assert reader.read_at(Position(99, 0)) is None
    assert reader.read_at(Position(1, 7)) is None


def test_requests_that_wait_together_are_all_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path, limits=JournalLimits())
    threads = [threading.Thread(target=journal.write, args=(record(b"x" * 1000, refused=n),)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()

    assert sorted(found.record.refused for found in read_all(tmp_path)) == list(range(50))


def test_a_closed_journal_takes_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path, limits=LIMITS)
    journal.close()

    with pytest.raises(JournalError, match="shutting down"):
        journal.write(record(b"late"))


def test_a_full_journal_takes_nothing_until_a_segment_is_removed(tmp_path: Path) -> None:
    journal = Journal(tmp_path, limits=JournalLimits(segment=100, total=1000))
    for _ in range(7):
        journal.write(record(b"x" * 100))
    with pytest.raises(JournalError, match="at most 1000"):
        journal.write(record(b"x" * 100))
    journal.close()
    for number in segments(tmp_path)[:-1]:
        segment_path(tmp_path, number).unlink()

    again = Journal(tmp_path, limits=JournalLimits(segment=100, total=1000))
    again.write(record(b"x" * 100))
    again.close()


def test_a_new_journal_begins_behind_the_old_segments(tmp_path: Path) -> None:
    written(tmp_path, [record(b"old")], LIMITS)
    written(tmp_path, [record(b"new")], LIMITS)

    assert segments(tmp_path) == [1, 2]


@given(cut=st.integers(min_value=1, max_value=3 * (HEADER_SIZE + 30)))
def test_a_torn_tail_costs_only_what_was_not_whole(cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("journal")
    records = [record(bytes([65 + number]) * 30) for number in range(3)]
    written(folder, records, JournalLimits())
    data = segment_path(folder, 1).read_bytes()
    segment_path(folder, 1).write_bytes(data[:-cut])
    whole = (len(data) - cut) // (HEADER_SIZE + 30)

    found = list(JournalReader(folder, finished=1).read())

    assert [one.record for one in found if isinstance(one, Stored)] == records[:whole]
    torn = [one for one in found if isinstance(one, Damage)]
    assert [one.kind for one in torn] == (["torn"] if (len(data) - cut) % (HEADER_SIZE + 30) else [])


@given(at=st.integers(min_value=0, max_value=3 * (HEADER_SIZE + 30) - 1), flipped=st.integers(1, 255))
def test_a_flipped_byte_costs_only_its_record(at: int, flipped: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("journal")
    records = [record(bytes([65 + number]) * 30) for number in range(3)]
    written(folder, records, JournalLimits())
    data = bytearray(segment_path(folder, 1).read_bytes())
    data[at] ^= flipped
    segment_path(folder, 1).write_bytes(data)

    found = list(JournalReader(folder, finished=1).read())

    hit = at // (HEADER_SIZE + 30)
    assert [one.record for one in found if isinstance(one, Stored)] == records[:hit] + records[hit + 1 :]
    damaged = [one for one in found if isinstance(one, Damage)]
    assert b"".join(one.data for one in damaged) == bytes(data[hit * (HEADER_SIZE + 30) :][: HEADER_SIZE + 30])


def test_what_looks_like_a_record_in_one_that_was_cut_ends_no_reader(tmp_path: Path) -> None:
    lookalike = bytearray(frame(record(b"xx")))
    lookalike[len(MAGIC)] = 99  # a signal that there is not
    lookalike[-4:] = zlib.crc32(b"xx", zlib.crc32(lookalike[:-4])).to_bytes(4, "little")
    written(tmp_path, [record(b"first"), record(bytes(lookalike) + b"xx and more")], JournalLimits())
    data = segment_path(tmp_path, 1).read_bytes()
    segment_path(tmp_path, 1).write_bytes(data[:-1])

    found = list(JournalReader(tmp_path, finished=1).read())

    assert [one.record for one in found if isinstance(one, Stored)] == [record(b"first")]


def test_a_record_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    reader = JournalReader(tmp_path, finished=0)
    written(tmp_path, [record(b"first"), record(MAGIC * 9)], JournalLimits())
    whole = segment_path(tmp_path, 1).read_bytes()
    seen = []
    for end in range(len(whole) + 1):
        segment_path(tmp_path, 1).write_bytes(whole[:end])
        seen += list(reader.read())

    assert [one.record.payload for one in seen if isinstance(one, Stored)] == [b"first", MAGIC * 9]
    assert len(seen) == 2


def test_a_record_that_becomes_whole_while_it_is_looked_at_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, [record(b"first"), record(b"second")], JournalLimits())
    path = segment_path(tmp_path, 1)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    look = os.fstat

    def finished_before_the_second_look(file: int) -> os.stat_result:
        path.write_bytes(whole)
        return look(file)

    monkeypatch.setattr(os, "fstat", finished_before_the_second_look)
    read = list(JournalReader(tmp_path, finished=0).read())

    assert [one.record.payload if isinstance(one, Stored) else one for one in read] == [b"first", b"second"]
