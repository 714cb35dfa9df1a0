"""What results tell of things with an id, and how many there are."""

from typing import Any

from flat_sessions import call, output, session_of

from analyzer.profile import Profile
from analyzer.timeline.index import build_timeline
from analyzer.timeline.records import Record, collections_in, records_of


def records(*results: Any) -> list[Record]:
    events = [event for place, result in enumerate(results) for event in (call(args={"n": place}), output(result))]
    return list(records_of(build_timeline(session_of(*events), Profile.STANDARD).work))


def test_an_object_with_an_id_is_a_record_with_its_state() -> None:
    (record,) = records({"order_id": "#W-17", "status": "Return_Requested", "items": []})

    assert (record.key, record.state, record.position) == ("w-17", "return requested", 1)
    assert record.words() == {"order", "id", "status"}


def test_records_are_found_at_any_level_and_in_text() -> None:
    found = records('{"orders": [{"id": 1001, "state": "open"}, {"id": 1002, "state": "closed"}]}')

    assert [(record.key, record.state) for record in found] == [("1001", "open"), ("1002", "closed")]


def test_no_id_no_record() -> None:
    assert records({"status": "ok"}, {"id": "ab"}, "text", None, [1, 2], {"id": None, "order_id": "none"}) == []


def test_a_deep_or_large_result_ends() -> None:
    deep: Any = {"id": "x-1"}
    for _ in range(150):
        deep = {"inner": deep}

    assert len(records(deep, [{"id": f"x-{place}"} for place in range(20_000)])) == 20_000


def test_a_collection_is_counted_whole_by_trait_and_by_two_traits() -> None:
    shirts = {str(n): {"color": "red" if n < 4 else "blue", "available": n % 2 == 0} for n in range(10)}

    (collection,) = collections_in({"name": "shirt", "variants": shirts})

    assert collection.size == 10
    assert {10, 4, 6, 5, 2, 3} <= collection.counts
    assert 9 not in collection.counts


def test_a_pair_is_no_collection() -> None:
    assert collections_in({"items": [{"a": 1}, {"a": 2}]}) == []
