from typing import Any

import pytest
from flat_sessions import session_of

from analyzer.session.accessors import RESULT, first_given
from analyzer.timeline.outcome import Outcome, outcome_of

FAILURES: dict[str, dict[str, Any]] = {
    "status": {"status": "error"},
    "status of a plugin": {"status": "Failed"},
    "flag": {"payload": {"isError": True}},
    "error": {"error": "boom"},
    "error in the payload": {"payload": {"error": {"message": "boom"}}},
    "exit code": {"status": "ok", "payload": {"exit_code": 2, "result": "out"}},
    "error text": {"status": "ok", "output": "Error executing tool search: boom"},
    "small error text": {"output": "error: no such file"},
    "exception text": {"output": "requests.exceptions.HTTPError: 503"},
    "plain exception": {"output": "Exception: boom"},
    "exception of another name": {"output": "requests.exceptions.ReadTimeout: 5 s"},
    "interrupt": {"output": "KeyboardInterrupt: "},
    "traceback": {"output": "Traceback (most recent call last):\n  File"},
    "error object": {"output": {"error": "not found"}},
    "error object as text": {"output": '{"error": "not found"}'},
    "is_error": {"output": {"is_error": True, "content": "boom"}},
    "status in the result": {"output": {"status": "error", "message": "boom"}},
    "exit code in the result": {"output": {"exitCode": 1, "stdout": ""}},
    "one content block": {"output": [{"type": "text", "text": "ValueError: boom"}]},
    "content of a message": {"output": {"content": [{"type": "text", "text": "Error: boom"}]}},
}
SUCCESSES: dict[str, dict[str, Any]] = {
    "text": {"output": "3 documents"},
    "null": {"output": None, "status": "ok"},
    "empty": {"output": []},
    "status alone": {"status": "ok"},
    "exit code zero": {"payload": {"exit_code": 0, "result": ""}},
    "null error": {"output": {"error": None, "rows": 3}},
    "false error": {"output": {"error": False}},
    "the word inside": {"output": "The page explains what an Error is: a mistake"},
    "errors counted": {"output": "Errors: 0"},
    "a label": {"output": "Timeout: 30 s"},
    "an exception to a rule": {"output": "Exceptions: none"},
    "a page on errors": {"output": "Error handling in Python"},
    "two content blocks": {"output": [{"text": "Error: a"}, {"text": "fine"}]},
}


def outcome(fields: dict[str, Any]) -> Outcome:
    (event,) = session_of({"event": "tool_output", "tool": "search", **fields}).events
    return outcome_of(event, first_given(event, RESULT))


@pytest.mark.parametrize("fields", FAILURES.values(), ids=FAILURES)
def test_a_failure_is_seen_whatever_the_status_says(fields: dict[str, Any]) -> None:
    assert outcome(fields).status == "error"


@pytest.mark.parametrize("fields", SUCCESSES.values(), ids=SUCCESSES)
def test_a_success_is_none(fields: dict[str, Any]) -> None:
    assert outcome(fields) == ("ok", None)


def test_an_output_that_says_nothing_is_of_unknown_outcome() -> None:
    assert outcome({}) == (None, None)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"error": "boom"}, "boom"),
        ({"error": {"message": "boom"}}, "boom"),
        ({"error": {"code": 7}}, '{"code":7}'),
        ({"error": True, "output": "Error: boom"}, "Error: boom"),
        ({"status": "error", "output": "gone"}, "gone"),
        ({"error": "x" * 300}, "x" * 200),
    ],
)
def test_an_error_is_told_in_its_own_words(fields: dict[str, Any], text: str) -> None:
    assert outcome(fields).error == text
