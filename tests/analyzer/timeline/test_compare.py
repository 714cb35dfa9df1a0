from typing import Any

import pytest

from analyzer.session.accessors import ABSENT
from analyzer.timeline.compare import result_key

EQUAL: dict[str, tuple[Any, Any]] = {
    "key order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "times": ({"rows": [], "timestamp": "10:00"}, {"rows": [], "timestamp": "10:01"}),
    "spellings": ({"rows": 1, "durationMs": 3}, {"rows": 1, "duration_ms": 4}),
    "ids": ({"rows": 1, "request_id": "r1"}, {"rows": 1, "request_id": "r2"}),
    "ids in the metadata": ({"rows": 1, "metadata": {"traceId": "a"}}, {"rows": 1, "metadata": {"traceId": "b"}}),
    "lines of an envelope": (
        "Chunk ID: 1f\nWall time: 0.1 seconds\nOutput:\nfine",
        "Chunk ID: 2e\nWall time: 0.2 seconds\nOutput:\nfine",
    ),
    "a content block": ([{"type": "text", "text": "fine"}], "fine"),
    "messages": ({"tool_call_id": "a", "content": "fine"}, {"tool_call_id": "b", "content": "fine"}),
    "own call id": ("call_one1 is done", "call_two2 is done"),
}
DIFFERENT: dict[str, tuple[Any, Any]] = {
    "progress": ({"status": "running"}, {"status": "done"}),
    "percent": ("10%", "0%"),
    "a time that was asked for": ({"timestamp": "10:00"}, {"timestamp": "10:01"}),
    "a time deep in the data": ({"flight": {"duration": 3}}, {"flight": {"duration": 4}}),
    "types": (1, "1"),
}


@pytest.mark.parametrize(("first", "second"), EQUAL.values(), ids=EQUAL)
def test_what_changes_by_nature_makes_no_difference(first: Any, second: Any) -> None:
    assert result_key(first, "call_one1") == result_key(second, "call_two2")


@pytest.mark.parametrize(("first", "second"), DIFFERENT.values(), ids=DIFFERENT)
def test_news_makes_a_difference(first: Any, second: Any) -> None:
    assert result_key(first, "1") != result_key(second, "1")


def test_a_result_that_is_not_known_has_no_key() -> None:
    assert result_key(ABSENT, None) is None
