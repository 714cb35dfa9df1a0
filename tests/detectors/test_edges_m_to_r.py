"""Where the rules from `malformed_model_output` to `retry_storm` begin and end."""

from typing import Any

import pytest
from small_runs import END, START, asks, found, heard, response, said, tool

from analyzer.detectors import (
    malformed_model_output,
    memory_degradation,
    misreported_result,
    missing_delegate,
    missing_tool_output,
    no_final_answer,
    repeated_message,
    retry_storm,
)

Events = list[dict[str, Any]]

UNREAD = {**END, "status": "error", "error": "OutputParserException: Could not parse LLM output"}


@pytest.mark.parametrize(
    ("events", "evidence"),
    [
        ((START, UNREAD), ("event_1",)),
        ((START, response(text="Hm."), UNREAD), ("event_1", "event_2")),
        ((START, UNREAD, response(text="Hm."), response(text="So.")), ("event_1",)),
        ((START, response(text="Hm."), response(error="MALFORMED_FUNCTION_CALL")), ("event_2",)),
    ],
)
def test_a_complaint_is_about_the_response_before_it(events: Any, evidence: tuple[str, ...]) -> None:
    (cause,) = found(malformed_model_output, *events)

    assert cause.evidence == evidence


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ('{"city": "Rome"', 1),
        ('  [{"city": "Rome"', 1),
        ('{"city": "Rome"}', 0),
        ("Rome", 0),  # no JSON was meant
        ('{"a":' * 5000 + "1" + "}" * 5000, 0),  # too deep to be read
        (f'{{"city": "{"x" * 100_000}', 0),  # too long to be read
    ],
)
def test_arguments_that_were_meant_as_json_can_be_read(arguments: str, count: int) -> None:
    failed = tool("get_weather", arguments, error="failed")

    assert len(found(malformed_model_output, START, *failed, END)) == count
    assert found(malformed_model_output, START, *tool("get_weather", arguments, "sunny"), END) == ()


def forgotten(*before: dict[str, Any]) -> tuple[str | None, str]:
    """Return how severe two look-ups that came back empty are after something, and what is said of them."""
    empty = [event for number in range(2) for event in tool("memory_search", {"q": number}, {"results": []})]
    (cause,) = found(memory_degradation, START, *before, *empty, END)
    return cause.severity, cause.description


@pytest.mark.parametrize(
    ("before", "severity"),
    [
        (tool("memory_store", {"name": "Ada"}, "ok"), "medium"),
        (tool("memory_store", {"name": "Ada"}, error="disk full"), "low"),
        (tool("get_price", {}, 10), "low"),
    ],
)
def test_what_was_never_stored_is_not_missed(before: Events, severity: str) -> None:
    assert forgotten(*before) == (severity, "Memory look-ups (memory_search) came back empty 2 times.")


def test_look_ups_without_a_tool_are_told_without_one() -> None:
    (cause,) = found(memory_degradation, START, {"event": "memory_event", "payload": {"outcome": "miss"}}, END)

    assert cause.description == "Memory look-ups came back empty once."


ORDER = {"order_id": "W-1701", "status": "processed", "email": "a@example.org", "size": "30"}
OTHER = {"order_id": "W-1702", "status": "delivered", "email": "b@example.org", "size": "20"}
LOOKED_UP = [
    *tool("get_order", {"order_id": "W-1701"}, ORDER),
    *tool("get_order", {"order_id": "W-1702"}, OTHER),
]


@pytest.mark.parametrize(
    ("sentence", "rules"),
    [
        ("Order W-1701 is processed.", []),
        ("Order W-1701 is delivered.", ["wrong-state"]),
        ("I looked at both: order W-1701 is delivered.", ["wrong-state"]),
        ("Order W-1701 is processed; order W-1702 is processed.", ["wrong-state"]),
        ("Order W-1701 is processed or delivered; order W-1702 is processed.", ["wrong-state"]),
        ("Order W-1701 was undelivered.", []),  # another word
        ("Order W-1701 is undelivered and delivered.", ["wrong-state"]),
        ("Order W-1701 is redelivered.", []),
        ("Order W-1701 is delivereds.", []),
        ("Order W-1701 has no email.", ["denied-value"]),
        ("Order W-1701 has no size.", []),  # so short a word is too common
        ("Order W-1701: no email.", []),  # nobody said that it has none
        ("Order W-1701 has no email, so you must add one.", []),
        ("Order W-1701 has an email.", []),
        ("It has no email.", []),
        ("Orders W-1701 and W-1702 have no email.", []),
    ],
)
def test_what_is_said_of_a_thing_is_what_its_result_holds(sentence: str, rules: list[str]) -> None:
    talk = (heard("How are my orders?"), *LOOKED_UP, said(sentence))

    assert [cause.rule for cause in found(misreported_result, START, *talk, END)] == rules


def test_an_answer_is_looked_at_after_others_that_say_nothing() -> None:
    talk = (said("Well."), said("Order W-1701 is delivered."))

    assert len(found(misreported_result, START, heard("How is it?"), *LOOKED_UP, *talk, END)) == 1


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("There are 3 orders.", 0),
        ("There are 2 orders.", 1),
        ("There are 4 orders.", 1),
        ("There are 1 orders.", 0),  # as often an article
        ("There are 4 orders that match.", 0),  # some were picked out
        ("There are 4 orders, and we have 5 items.", 0),  # of which list?
        ("You can order now.", 0),
    ],
)
def test_a_count_is_that_of_the_list(sentence: str, count: int) -> None:
    rows = tool("list_orders", {}, [{"name": "a"}, {"name": "b"}, {"name": "c"}])
    talk = (heard("How many?"), *rows, said(sentence))

    assert len(found(misreported_result, START, *talk, END)) == count
    assert found(misreported_result, START, heard("How many?"), said(sentence), END) == ()


def at_work(agent: str) -> dict[str, Any]:
    return {"event_type": "agent_start", "payload": {"agent": agent}}


def handed(to: str, *, by: str = "triage_agent", error: str | None = None, answered: bool = True) -> Events:
    begun, ended = tool(f"transfer_to_{to}", {}, "ok", error=error)
    return [{**begun, "payload": {"agent": by}}, ended][: 1 + answered]


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([at_work("triage_agent"), *handed("billing")], 1),
        ([at_work("triage_agent"), *handed("billing", answered=False)], 1),
        ([at_work("triage_agent"), *handed("billing"), heard("Hello?")], 0),  # one name only: who goes on?
        ([at_work("triage_agent"), *handed("billing"), *tool("refund", {}, "ok")], 0),
        ([at_work("triage_agent"), *handed("sales", error="down"), *handed("billing")], 1),
        ([at_work("support_agent"), at_work("triage_agent"), *handed("billing_agent")], 1),
        ([at_work("support_agent"), at_work("triage_agent"), *handed("support_agent")], 0),
        ([at_work("triage_agent"), *handed("billing"), at_work("billing")], 0),
        ([at_work("support_agent"), at_work("billing"), *handed("billing", by="billing")], 0),  # to oneself
        ([at_work("support_agent"), at_work("triage_agent"), *handed("team")], 1),
        ([at_work("the_team"), at_work("triage_agent"), *handed("team")], 0),
    ],
)
def test_a_task_is_handed_to_somebody_who_begins(events: Events, count: int) -> None:
    assert len(found(missing_delegate, *events)) == count


def test_an_unanswered_call_is_shown_by_itself() -> None:
    events = (
        *(START, heard("What do they cost?"), asks(("c1", "get_price", {"sku": "A"}))),
        *tool("get_price", {"sku": "A"}, tool_call_id="c1"),
        *tool("get_stock", {"sku": "A"}, 7),
        *(said("Ten dollars."), END),
    )
    (cause,) = found(missing_tool_output, *events)

    assert "event_2" not in cause.evidence
    assert "event_3" in cause.evidence


ASKED = heard("What does it cost?")
SEARCH = asks(("c1", "search", {}))
SILENT = response(messages=[{"role": "assistant"}])


def output_of(text: str) -> dict[str, Any]:
    return {**END, "payload": {"agent": "helper", "output": text}}


def unanswered(*events: dict[str, Any]) -> list[str | None]:
    return [cause.rule for cause in found(no_final_answer, START, ASKED, *events)]


@pytest.mark.parametrize(
    ("events", "rules"),
    [
        ((SILENT, END), ["empty-answer"]),
        ((SILENT, said("Ten dollars."), END), []),
        ((SILENT, heard("Hello?"), END), ["empty-answer"]),
        ((said("Let me see."), SILENT, END), ["empty-answer"]),
        ((SILENT, output_of("Ten dollars.")), []),
        ((SILENT, {"event_type": "turn_end", "payload": {"output": "Ten."}}, END), ["empty-answer"]),
        ((SILENT, *tool("final_result", {"text": "Ten."}, "done", payload={"pseudo": True}), END), []),
        ((SEARCH, *tool("search", {}, "x", tool_call_id="c1"), END), ["ended-on-a-result"]),
        ((SEARCH, *tool("search", {}, "x", tool_call_id="c1")), []),  # whether it ended is not known
        ((SEARCH, *tool("search", {}, tool_call_id="c1"), END), []),  # another type tells of that
        ((SEARCH, END), []),
        ((*tool("search", {}, "x"), SEARCH, END), []),
        ((said("Ten dollars."), SEARCH, *tool("search", {}, "x", tool_call_id="c1"), END), []),
        ((asks(("c1", "s", {}), text="Ten."), *tool("s", {}, "x", tool_call_id="c1"), END), []),
    ],
)
def test_a_run_ends_with_an_answer(events: Any, rules: list[str]) -> None:
    assert unanswered(*events) == rules


def test_a_result_answers_nobody_who_asked_nothing() -> None:
    events = (said("Hello."), SEARCH, *tool("search", {}, "x", tool_call_id="c1"), END)

    assert found(no_final_answer, START, *events) == ()


def announced(text: str) -> dict[str, Any]:
    return response(messages=[{"role": "assistant", "text": text}])


@pytest.mark.parametrize(
    ("text", "after", "count"),
    [
        ("Let me check the price.", (), 1),
        (f"{'It is fine. ' * 31}Now I know. Let me check it.", (), 1),  # 400 characters
        (f"{'It is fine. ' * 31}Now I know. Let me check it .", (), 0),
        ("Which one? Let me check the price.", (), 0),
        ("Let me check the price.", (heard("Thanks."),), 0),
        ("Let me check the price.", tuple(tool("get_price", {}, 10)), 0),
        ("It costs ten dollars.", (), 0),
    ],
)
def test_an_announcement_is_no_answer(text: str, after: Any, count: int) -> None:
    assert len(unanswered(announced(text), *after, END)) == count


def repeats(*texts: str) -> Events:
    return [said(text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (["please send the missing report now"] * 3, 1),
        (["please send the missing report now"] * 2, 0),
        (["please send the missing report"] * 3, 0),  # so few words are soon the same
        (["please send report 17 of 2024 now"] * 3, 1),
        ([f"please send report {number} of the year now" for number in (17, 18, 19)], 0),  # it moves on
        (
            [
                "please send the missing report now",
                "please send the missing report now to me",
                "so be it then my friend",
            ],
            0,
        ),
    ],
)
def test_a_message_that_repeats_itself_is_told(texts: list[str], count: int) -> None:
    assert len(found(repeated_message, START, *repeats(*texts), END)) == count


def test_a_repeated_message_is_quoted_as_it_was_said_first() -> None:
    (cause,) = found(
        repeated_message, START, *repeats(*(f"Please send the report of last week now{'!' * n}" for n in range(3)))
    )

    assert cause.description.endswith("“Please send the report of last week now”.")


@pytest.mark.parametrize("speakers", ["bababa", "baaabb"])
def test_stretches_of_two_agents_are_told_in_order(speakers: str) -> None:
    texts = {"b": "please send the missing report now", "a": "nobody has such a report over here"}
    talk = [{**said(texts[who]), "payload": {"text": texts[who], "agent": who}} for who in speakers]

    assert [cause.description[0] for cause in found(repeated_message, START, *talk, END)] == ["b", "a"]


def retried(count: int, **told: Any) -> Events:
    return [{"event": "retry_event", "event_type": "retry", "payload": {}, **told}] * count


def fetched(retries: int, call_id: str, **ended: Any) -> Events:
    begun, end = tool("fetch", {"url": call_id}, tool_call_id=call_id, **(ended or {"error": "gave up"}))
    return [begun, *retried(retries, tool_name="fetch", tool_call_id=call_id), end]


@pytest.mark.parametrize(
    ("events", "severities"),
    [
        (fetched(5, "a"), ["medium"]),
        (fetched(4, "a"), []),
        (fetched(10, "a"), ["high"]),
        ([*fetched(1, "a"), *fetched(5, "b")], ["medium"]),
        (fetched(5, "a", result="text"), ["low"]),
        ([*fetched(5, "a"), response(messages=[{"role": "assistant", "text": "It is down."}])], ["medium"]),
        (retried(5, payload={"model": "m"}), ["medium"]),
        ([response(text="So."), *retried(5, payload={"model": "m"})], ["medium"]),
        ([*retried(5, payload={"model": "m"}), response(text="So.")], ["low"]),
        ([*retried(5, payload={"model": "m"}), response(error="overloaded")], ["medium"]),
        ([*retried(4, payload={"model": "m"}), response(text="So."), *retried(1, payload={"model": "m"})], ["medium"]),
    ],
)
def test_a_client_that_retries_often_is_told(events: Events, severities: list[str]) -> None:
    assert [cause.severity for cause in found(retry_storm, START, *events, END)] == severities


def fails(count: int, url: str = "") -> Events:
    return [event for number in range(count) for event in tool("fetch", {"url": url or f"u{number}"}, error="down")]


@pytest.mark.parametrize(
    ("events", "count"),
    [
        (fails(5), 1),
        (fails(4), 0),
        (fails(6, "u"), 0),  # a loop, which its own type tells
        ([*fails(3, "u"), *fails(4)], 0),
        ([*fails(2, "u"), *fails(3)], 1),
    ],
)
def test_attempts_that_fail_in_a_row_are_told(events: Events, count: int) -> None:
    assert len(found(retry_storm, START, *events, END)) == count


def test_a_tool_that_polls_hides_no_other_that_fails() -> None:
    events = [*tool("check_mail", {}, "none yet"), *fails(5)]

    assert len(found(retry_storm, START, *events, END, polling_tools=("check_*",))) == 1


def test_storms_that_mingle_are_told_in_order_of_their_first_attempts() -> None:
    one, other = ({"model": "first"}, {"model": "second"})
    events = [*retried(1, payload=one), *retried(5, payload=other), *retried(4, payload=one)]

    assert [cause.description.split()[5] for cause in found(retry_storm, START, *events, END)] == ["first", "second"]


def test_failures_that_mingle_are_told_in_order_of_their_first_attempts() -> None:
    fetches = fails(5)
    posts = [event for number in range(5) for event in tool("post", {"id": number}, error="down")]
    events = [*fetches[:2], *posts, *fetches[2:]]

    assert [cause.description.split()[0] for cause in found(retry_storm, START, *events, END)] == ["fetch", "post"]


def test_retries_of_a_call_that_loops_belong_to_the_loop() -> None:
    again = [event for _ in range(3) for event in fetched(0, "u")]
    looping = [{**event, "tool_call_id": f"c{place // 2}"} for place, event in enumerate(again)]
    events = [*looping[:5], *retried(5, tool_name="fetch", tool_call_id="c2"), *looping[5:]]

    assert found(retry_storm, START, *events, END) == ()
