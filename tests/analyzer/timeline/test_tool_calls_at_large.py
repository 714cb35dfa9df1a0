"""Which tools were offered, what their names say, which calls go round: the smaller questions about tools."""

import time
from typing import Any

import pytest
from flat_sessions import call, output, session_of

from analyzer.profile import Profile
from analyzer.timeline.admission import admits_failure, admits_nothing
from analyzer.timeline.cycles import cycles_in
from analyzer.timeline.index import Timeline, build_timeline
from analyzer.timeline.tool_words import is_lookup, name_words, telling_words, writes


def timeline_of(*events: Any) -> Timeline:
    return build_timeline(session_of(*events), Profile.STANDARD)


def offering(*tools: Any) -> dict[str, Any]:
    return {"event_type": "before_provider_request", "payload": {"tools": list(tools)}}


@pytest.mark.parametrize("name", ["search_docs", "searchDocs", "mcp__docs__search_docs", "functions.search_docs"])
def test_a_tool_was_offered_whatever_its_prefix_and_spelling(name: str) -> None:
    assert timeline_of(offering({"name": "search_docs"})).offered.has(name)


def test_a_tool_that_no_request_names_was_not_offered() -> None:
    offered = timeline_of(offering({"name": "search_docs"}, {"function": {"name": "get_price"}}, "plain", None)).offered

    assert offered.known
    assert not offered.has("send_fax")
    assert offered.has("get_price")
    assert offered.has("plain")


def test_what_one_agent_is_offered_tells_nothing_of_another() -> None:
    event = offering({"name": "search_docs"})
    event["payload"]["agent"] = "planner"
    offered = timeline_of(event).offered

    assert offered.known_for("planner")
    assert not offered.known_for("writer")


def test_two_schemas_under_one_name_are_no_schema() -> None:
    first, second = ({"name": "find", "parameters": {"required": [name]}} for name in ("a", "b"))

    assert timeline_of(offering(first), offering(first)).offered.parameters("find") is not None
    assert timeline_of(offering(first), offering(second)).offered.parameters("find") is None


def test_a_schema_is_found_in_its_wrapper() -> None:
    schema = {"type": "object", "required": ["q"]}
    declared = {"name": "find", "parameters": {"json": schema}}

    assert timeline_of(offering(declared)).offered.parameters("find") == schema


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sendEmail", ("send", "email")),
        ("mail.send-email", ("mail", "send", "email")),
        ("HTTPGet2", ("http", "get", "2")),
        ("查询_订单", ("查询", "订单")),
        ("", ()),
    ],
)
def test_a_name_is_read_as_words(name: str, words: tuple[str, ...]) -> None:
    assert name_words(name) == words


def test_words_that_any_tool_has_tell_nothing() -> None:
    assert telling_words("get_order_details_by_id") == {"order", "details"}


@pytest.mark.parametrize("name", ["send_email", "createOrder", "gmail-send-email", "pay", "book_table", "add_to_cart"])
def test_a_tool_that_does_something_again_each_time_writes(name: str) -> None:
    assert writes(name)


@pytest.mark.parametrize(
    "name",
    ["get_order", "order_status", "search_email", "set_alarm", "delete_note", "update_order", "run", "preview_send"],
)
def test_a_tool_that_looks_up_or_sets_does_not(name: str) -> None:
    assert not writes(name)


def test_a_description_tells_where_the_name_does_not() -> None:
    assert writes("crm_77", "Sends a letter to a customer.")
    assert not writes("crm_77", "Letters that were sent.")
    assert is_lookup("list_orders")


@pytest.mark.parametrize("text", ["We open at nine.", "Das Paket kommt am Montag.", "Cuesta 19,50.", "我们九点开门。"])
def test_a_plain_answer_admits_nothing(text: str) -> None:
    assert not admits_failure(text)
    assert not admits_nothing(text)


@pytest.mark.parametrize("text", ["There are no orders.", "Es gibt keine.", "Rien.", "0 orders were found.", "没有。"])
def test_an_answer_that_says_that_there_is_nothing_admits_it(text: str) -> None:
    assert admits_nothing(text)


def rounds(letters: str) -> list[tuple[str, int]]:
    """Return the cycles of calls that are named by letters, as text and length of a round."""
    events = [event for letter in letters for event in (call(letter), output("same", letter))]
    found = cycles_in(timeline_of(*events).work, ())
    return [("".join(one.tool or "" for one in cycle.calls), cycle.length) for cycle in found]


@pytest.mark.parametrize(
    ("letters", "found"),
    [
        ("abab", [("abab", 2)]),
        ("xababy", [("abab", 2)]),
        ("ababa", [("ababa", 2)]),
        ("abcabc", [("abcabc", 3)]),
        ("abcdefabcdef", [("abcdefabcdef", 6)]),
        ("ababxcdcd", [("abab", 2), ("cdcd", 2)]),
        ("aabaab", [("aabaab", 3)]),
        ("abcdefgabcdefg", []),
        ("aba", []),
        ("aaaa", []),
        ("abcacb", []),
    ],
)
def test_rounds_are_found(letters: str, found: list[tuple[str, int]]) -> None:
    assert rounds(letters) == found


def test_many_calls_without_rounds_take_no_long() -> None:
    calls = timeline_of(*(call("read", {"n": n % 7 * (n // 7)}) for n in range(20_000))).work
    started = time.process_time()

    cycles_in(calls, ())

    assert time.process_time() - started < 1
