from typing import Any

import pytest
from flat_sessions import session_of

from analyzer.profile import Profile
from analyzer.timeline.index import build_timeline
from analyzer.timeline.tokens import Tokens, recorded_total, usage_of


def tokens(*events: Any) -> Tokens:
    return build_timeline(session_of(*events), Profile.STANDARD).tokens


def response(usage: Any) -> dict[str, Any]:
    return {"event_type": "after_provider_response", "payload": {} if usage is None else {"usage": usage}}


SPELLINGS: dict[str, tuple[dict[str, Any], int]] = {
    "total": ({"usage": {"total": 7}}, 7),
    "total_tokens": ({"usage": {"total_tokens": 7}}, 7),
    "a number": ({"usage": 7}, 7),
    "top level": ({"total": 7}, 7),
    "tokens": ({"tokens": 7}, 7),
    "payload": ({"payload": {"usage": {"total": 7}}}, 7),
    "sum": ({"usage": {"input_tokens": 4, "output_tokens": 3}}, 7),
    "old names": ({"usage": {"prompt_tokens": 4, "completion_tokens": 3}}, 7),
    "text": ({"usage": {"total": "12,000"}}, 12_000),
    "null total": ({"usage": {"total": None, "total_tokens": 7}}, 7),
    "a double": ({"usage": {"total": 7.0}}, 7),
    "negative output": ({"usage": {"input_tokens": 7, "output_tokens": -3}}, 7),
}


@pytest.mark.parametrize(("fields", "total"), SPELLINGS.values(), ids=SPELLINGS)
def test_usage_is_read_in_every_spelling(fields: dict[str, Any], total: int) -> None:
    assert tokens({"event": "token_usage", **fields}).total == total


@pytest.mark.parametrize("usage", ["13k", [7], {"total": "many"}, {"total": True}, {}, {"total": -1}])
def test_what_is_no_number_is_no_usage(usage: Any) -> None:
    (event,) = session_of({"event": "token_usage", "usage": usage}).events

    assert usage_of(event) is None


def test_cached_input_is_a_part_of_the_input() -> None:
    found = tokens(response({"input_tokens": 10, "output_tokens": 2, "total": 12, "cached_input_tokens": 8}))

    assert found == Tokens(input=10, output=2, cached_input=8, total=12, complete=True)


@pytest.mark.parametrize(
    "usage",
    [
        {"input": 30, "output": 10, "cacheRead": 15, "cacheWrite": 5, "totalTokens": 60},  # OpenClaw
        {"input_tokens": 3, "output_tokens": 10, "cache_read_input_tokens": 42, "cache_creation_input_tokens": 5},
        {"input_tokens": 3, "output_tokens": 10, "cache_read_input_tokens": 47, "total_tokens": 13},
        {"input_tokens": 50, "output_tokens": 10, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 10},
    ],
)
def test_cached_input_that_stands_beside_the_input_is_counted_in(usage: dict[str, int]) -> None:
    found = tokens(response(usage))

    assert (found.input, found.output, found.total) == (50, 10, 60)


def test_a_call_without_usage_makes_the_sum_a_lower_bound() -> None:
    found = tokens(response({"input_tokens": 100, "output_tokens": 10}), response(None))

    assert found == Tokens(input=100, output=10, total=110, complete=False)


def test_a_run_without_usage_has_none_rather_than_zero() -> None:
    assert tokens(response(None)) == Tokens()


def test_a_report_of_the_run_counts_where_no_call_reports() -> None:
    report = {"event_type": "usage_report", "payload": {"usage": {"total": 50}, "scope": "run"}}

    assert tokens(response(None), report) == Tokens(total=50, complete=True)


@pytest.mark.parametrize(
    ("fields", "total"),
    [
        ({"usage": {"total": 7}}, 7),
        ({"usage": {"total_tokens": 7}}, 7),
        ({"usage": {"total": None, "total_tokens": 7}}, 0),
        ({"usage": {"input_tokens": 4, "output_tokens": 3}}, 0),
        ({"usage": {"total": -7}}, -7),
        ({"usage": 13}, 0),
        ({"usage": 13, "tokens": 7}, 7),
        ({"tokens": 7}, 0),
        ({"total": 7}, 7),
        ({"total": True}, 1),
        ({"total": "+7"}, 7),
        ({"total": "\uff11\uff13"}, 13),
        ({"total": 7.9}, 7),
        ({"payload": {"usage": {"total": 7}}}, 7),
    ],
)
def test_the_recorded_total_of_an_event(fields: dict[str, Any], total: int) -> None:
    (event,) = session_of({"event": "token_usage", **fields}).events

    assert recorded_total(event) == total
