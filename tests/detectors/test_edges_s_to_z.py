"""Where the rules from `skill_failure` to `wrong_arithmetic` begin and end."""

from typing import Any

import pytest
from small_runs import END, START, asks, found, heard, response, said, tool

from analyzer.detectors import (
    skill_failure,
    slow_tool,
    unaided_answer,
    unconfirmed_action,
    unfinished_run,
    ungrounded_argument,
    unhandled_tool_error,
    unknown_tool,
    unsupported_claims,
    wrong_arithmetic,
)

Events = list[dict[str, Any]]


def skill(name: str, call_id: str, *, error: str | None = None) -> Events:
    begun, ended = tool("use_skill", {"skill": name}, "read it", error=error, tool_call_id=call_id)
    loaded = {"event": "skill_event", "skill": name, "tool": "use_skill", "tool_call_id": call_id}
    return [begun, loaded, ended]


@pytest.mark.parametrize(
    ("events", "severities"),
    [
        (skill("pdf", "a", error="no such file"), ["medium"]),
        ([*skill("pdf", "a", error="no such file"), *skill("pdf", "b")], ["low"]),
        ([*skill("pdf", "a", error="no such file"), *skill("xls", "b")], ["medium", "low"]),
        ([*skill("pdf", "a"), *skill("pdf", "b", error="no such file")], ["medium"]),
        ([*skill("pdf", "a"), *tool("draw", {}, "ok")], []),
        ([*skill("pdf", "a"), *skill("xls", "b")], ["low"]),
    ],
)
def test_a_skill_that_failed_is_made_up_for_by_loading_it(events: Events, severities: list[str]) -> None:
    assert [cause.severity for cause in found(skill_failure, START, *events, END)] == severities


def test_a_skill_that_failed_is_shown_with_what_came_back() -> None:
    (cause,) = found(skill_failure, START, *skill("pdf", "a", error="no such file"), END)

    assert cause.evidence == ("event_2", "event_3")


SPAN = {"trace_id": f"{7:032x}", "span_id": f"{8:016x}"}


@pytest.mark.parametrize(("own", "severities"), [(SPAN, ["medium"]), ({**SPAN, "span_id": f"{9:016x}"}, [])])
def test_a_skill_is_loaded_by_the_call_of_its_span(own: dict[str, str], severities: list[str]) -> None:
    begun, ended = tool("use_skill", {"skill": "pdf"}, error="no such file", span=SPAN)
    loaded = {"event": "skill_event", "skill": "pdf", "span": own}

    assert [cause.severity for cause in found(skill_failure, START, begun, loaded, ended, END)] == severities


def timed(name: str | None, *seconds: float | None, told: bool = True) -> Events:
    events: Events = []
    for place, took in enumerate(seconds):
        begun, ended = tool(name, {"n": place}, place)
        events += [begun, {**ended, "duration_ms": took * 1000} if told and took is not None else ended]
    return events


@pytest.mark.parametrize(
    ("events", "count"),
    [
        (timed("query", 1, 1, 1, 30), 1),
        (timed("query", 1, 1, 1, 29.9), 0),
        (timed("query", 4, 4, 4, 40), 1),
        (timed("query", 4, 4, 4, 39.9), 0),
        (timed("query", 2, 2, 6, 40), 1),  # half of them take up to four seconds
        (timed("query", 2, 2, 6, 39.9), 0),
        (timed("query", 1, 1, 5, 5, 50), 1),
        (timed("query", 1, 1, 5, 5, 49.9), 0),
        (timed("query", 1, 1, 30), 0),  # too few to say what is usual
        ([*timed("get", 1, 1), *timed("query", 1, 1, 1, 30)], 1),
        ([*timed(None, 1), *timed("query", 1, 1, 1, 30)], 1),
        (timed(None, 1, 1, 1, 30), 0),
        ([*tool("get", {}), *timed("query", 1, 1, 1, 30)], 1),
        (timed("query", None, None, None, 30), 1),  # by their times, a second each
    ],
)
def test_a_call_is_slow_beside_the_others_of_its_tool(events: Events, count: int) -> None:
    assert len(found(slow_tool, START, *events, END)) == count


def test_calls_without_times_are_not_slow() -> None:
    events = [{**event, "timestamp": None} for event in timed("query", None, None, None, None)]

    assert found(slow_tool, *events) == ()


def test_a_call_of_which_only_the_end_is_known_is_not_slow() -> None:
    events = [{**event, "timestamp": None} if "output" not in event else event for event in timed("query", *[None] * 4)]

    assert found(slow_tool, START, *events, END) == ()


def offering(*tools: dict[str, Any], text: str = "What is the current price of A-17?") -> dict[str, Any]:
    payload = {"messages": [{"role": "user", "text": text}], "messages_total": 1, "tools": list(tools)}
    return {"event_type": "before_provider_request", "payload": {"agent": "helper", **payload}}


PRICES = {"name": "get_price", "description": "Get a price."}
FROM_MEMORY = response(messages=[{"role": "assistant", "text": "It is 24.99 dollars."}])


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([offering(PRICES), FROM_MEMORY], 1),
        ([offering({"name": "tool_1", "description": "Tells a price."}), FROM_MEMORY], 1),
        ([offering({"name": "tool_1", "description": "Tells the weather."}), FROM_MEMORY], 0),
        ([offering({"name": "get_price"}), FROM_MEMORY], 1),
        ([said("It is 24.99 dollars."), offering(PRICES)], 0),
        ([offering(PRICES)], 0),
        ([offering(PRICES), asks(("c1", "get_price", {}))], 0),
        ([FROM_MEMORY, offering(PRICES)], 0),
    ],
)
def test_a_question_that_needs_a_tool_is_answered_with_one(events: Events, count: int) -> None:
    assert len(found(unaided_answer, START, *events, END)) == count


RULE = "Before you cancel or return anything, obtain explicit confirmation from the user."
CANCELS = tool("cancel_order", {"id": 7}, "ok")


def ruled(*messages: str, rule: str = RULE) -> dict[str, Any]:
    told = [{"role": "system", "text": rule}, *({"role": "user", "text": text} for text in messages)]
    payload = {"agent": "helper", "messages": told, "messages_total": len(told)}
    return {"event_type": "before_provider_request", "payload": payload}


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([ruled("My order is late."), *CANCELS], 1),
        ([ruled(), *CANCELS], 0),  # whether anybody spoke is not known
        ([ruled(), *CANCELS, heard("What did you do?")], 1),
        ([ruled("My order is late.", rule="Be kind."), *CANCELS], 0),
        ([ruled("It is late.", rule="Obtain an approval by finance before you cancel an order."), *CANCELS], 0),
        ([ruled("Yes, please."), *CANCELS], 1),  # to what?
        ([ruled("I hereby confirm it."), *CANCELS], 0),
        ([ruled("My order is late."), said("Shall I cancel it?"), heard("Yes, please."), *CANCELS], 0),
        ([ruled("My order is late."), said("Shall I cancel it?"), heard("How long is it?"), *CANCELS], 1),
        ([ruled("My order is late."), said("I see."), heard("Just cancel."), *CANCELS], 0),
        ([ruled("My order is late."), said("I see."), heard("Cancel, but not now."), *CANCELS], 1),
        ([ruled("My order is late."), said("I see."), heard("Hm."), *CANCELS], 1),
        ([ruled("Hm."), asks(("c1", "get_order", {}), text="I look."), heard("Yes."), *CANCELS], 1),
        ([ruled("Yes."), *CANCELS, said("It is cancelled.")], 1),
        ([ruled("Hm."), *tool("send_book", {"id": 7}, "ok")], 0),  # another deed than those of the rule
        ([ruled("Hm."), *tool("send_return", {"id": 7}, "ok")], 0),  # it sends, whatever it is about
    ],
)
def test_an_action_takes_the_assent_of_the_user(events: Events, count: int) -> None:
    rule_of_kind = "Before you cancel or return an order, obtain explicit confirmation from the user."
    events = [
        {**event, "payload": {**event["payload"], "messages": _with(event["payload"]["messages"], rule_of_kind)}}
        if event.get("event_type") == "before_provider_request"
        else event
        for event in events
    ]

    assert len(found(unconfirmed_action, START, *events, END)) == count


def _with(messages: Events, rule: str) -> Events:
    return [{**one, "text": rule} if one["text"] == RULE else one for one in messages]


@pytest.mark.parametrize(
    ("events", "evidence"),
    [
        ((), ("event_1",)),
        (tool("search", {}), ("event_2",)),
        ([*tool("search", {}), heard("Hello?")], ("event_2", "event_3")),
    ],
)
def test_a_run_without_an_end_is_shown_by_its_open_call_and_its_last_event(
    events: Events, evidence: tuple[str, ...]
) -> None:
    (cause,) = found(unfinished_run, START, heard("Book a room."), *events)

    assert cause.evidence == evidence


def looked_up(value: Any, name: str = "order_id", *, by: str | None = "get_order", **ended: Any) -> Events:
    return tool(by, {name: value}, **({"result": "ok"} | ended))


@pytest.mark.parametrize(
    ("events", "count"),
    [
        (looked_up("W-884213"), 1),
        (looked_up(884213), 1),
        (looked_up(["W-884213"]), 1),
        (looked_up([["W-884213"], None, {"a": "W-884213"}]), 0),
        (looked_up("W-884213", by=None), 0),
        (looked_up("W-884213", by="run_code"), 0),
        (looked_up("W-884213", by="create_order"), 0),
        (looked_up("W-884213", "text"), 0),
        (looked_up("W-884213", "session_id"), 0),
        (looked_up("W-884213", "order_id_note"), 0),  # a note is no id
        (tool("get_order", {"note": "x", "order_id": "W-884213"}, "ok"), 1),
        (tool("get_order", {"user_id": "myself", "order_id": "W-884213"}, "ok"), 1),
        (looked_up("12345"), 1),
        (looked_up("1234"), 0),
        (looked_up("A-1234"), 1),
        (looked_up("A-123"), 0),  # so short a word is in any text
        (looked_up("7" * 64), 1),
        (looked_up("7" * 65), 0),
        (looked_up("2026-01-02"), 0),
        (tool("get_order", {"order_id": "W-884213", "note": "the rest is omitted"}, "ok"), 1),
        ([heard("It is:\nA88421."), *[heard("Hello?")] * 9, *looked_up("A88421")], 0),
        ([heard("It is W-884213."), *looked_up("W-884213")], 0),
        ([*looked_up("W-884213"), heard("It is W-884213.")], 1),
        ([*tool("list_orders", {}, [{"id": "W-884213"}]), *looked_up("W-884213")], 0),
        ([*tool("note", {"text": "W-884213"}, "ok"), *looked_up("W-884213")], 0),
        ([heard("It is W-884213."), *[heard("Hello?")] * 9, *looked_up("W-884213")], 0),
        ([heard("It is w-884213-abc."), *[heard("Hello?")] * 9, *looked_up("W-884213")], 0),
        ([heard("[truncated]"), *looked_up("W-884213")], 0),
        ([*looked_up("W-884213"), heard("[truncated]")], 1),
        ([offering({"name": "get_order", "description": "Such as W-884213."}), *looked_up("W-884213")], 0),
    ],
)
def test_an_id_comes_from_somewhere(events: Events, count: int) -> None:
    assert len(found(ungrounded_argument, START, heard("Where is my parcel?"), *events, said("So."), END)) == count


def test_an_id_that_a_memory_may_have_given_is_let_pass() -> None:
    remembered = {"event": "memory_event", "event_type": "memory_search", "payload": {"operation": "search"}}

    assert found(ungrounded_argument, START, heard("Where is it?"), remembered, *looked_up("W-884213"), END) == ()


def test_an_id_is_not_looked_for_where_nobody_spoke() -> None:
    assert found(ungrounded_argument, START, *looked_up("W-884213"), said("So."), END) == ()


def test_the_invented_id_that_failed_is_told_first() -> None:
    events = (*looked_up("W-884213"), *looked_up("W-559911", error="no such order"))
    (cause,) = found(ungrounded_argument, START, heard("Where is it?"), *events, said("So."), END)

    assert cause.severity == "high"
    assert "W-559911" in cause.description


def ran(result: Any, **told: Any) -> Events:
    begun, ended = tool("bash", {"command": "grep x a.txt"}, result)
    return [begun, {**ended, "status": "error", **told}]


@pytest.mark.parametrize(
    ("events", "count"),
    [
        (ran("", exit_code=1), 0),
        (ran({"stdout": "", "exit_code": 1}), 0),
        (ran("Error: something broke", exit_code=1), 1),
        (ran({"stdout": "", "stderr": "Error: it broke", "exit_code": 1}), 1),
        (ran("", exit_code=2), 1),
        (ran({"stdout": "lines", "exit_code": 2}), 1),
        (ran([1], exit_code=1), 0),
    ],
)
def test_a_command_that_only_says_no_has_not_failed(events: Events, count: int) -> None:
    assert len(found(unhandled_tool_error, START, heard("Is x there?"), *events, said("All is well."), END)) == count


ONLY_PRICES = offering(PRICES)


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([ONLY_PRICES, *tool("send_fax", {}), *tool("get_price", {}, 7)], 1),
        ([ONLY_PRICES, *tool("get_price", {}), *tool("get_price", {}, 7)], 0),
        ([ONLY_PRICES, *tool("transfer_to_billing", {}), *tool("get_price", {}, 7)], 0),
        ([ONLY_PRICES, *tool(None, {}), *tool("get_price", {}, 7)], 0),
        ([ONLY_PRICES, *tool("send_fax", {})], 1),
        ([ONLY_PRICES, *tool("send_fax", {}), response(text="So.")], 0),  # no output is carried at all
        ([ONLY_PRICES, *tool("send_fax", {}), *tool("get_price", {})], 0),
        ([response(text="So."), ONLY_PRICES, *tool("get_price", {}), *tool("send_fax", {})], 1),
        ([ONLY_PRICES, response(text="So.")], 0),
        ([*tool("send_fax", {}), *tool("get_price", {}, 7)], 0),
    ],
)
def test_a_tool_that_was_not_offered_and_never_answered_is_not_there(events: Events, count: int) -> None:
    assert len(found(unknown_tool, START, *events, END)) == count


LOOKED = tool("find_gyms", {"near": "park"}, "the service needs a key")
GYMS = "Near the park are 212.5 Ash Road, 410.5 Elm Street, 917.5 Oak Avenue and 355.5 Fir Lane."


def without(figures: int) -> str:
    return f"It lists {', '.join(f'{100 + number}.5' for number in range(figures))} and what I know."


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([*LOOKED, said(GYMS)], 1),
        (LOOKED, 0),
        ([*LOOKED, said("Near are 212.5 Ash Road, 410.5 Elm Street and 917.5 Oak Avenue.")], 0),
        ([*LOOKED, said("Near are 212 Ash Road, 410 Elm Street, 917 Oak Avenue and 355 Fir Lane.")], 1),
        ([*LOOKED, said("Near are 21 Ash Road, 41 Elm Street, 91 Oak Avenue and 35 Fir Lane.")], 0),
        ([*LOOKED, said(f"```\n{GYMS}\n```")], 0),
        ([*LOOKED, said(f"{GYMS}\n```\nx = 1\n```")], 1),
        ([*LOOKED, said(f"```\n{GYMS}\n```\nThose are 212.5, 410.5 and 917.5.")], 0),
        ([*LOOKED, said("Total 212.5, 410.5, 917.5 and 355.5.")], 0),
        ([*LOOKED, said("There are 212.5, 410.5 and 917.5. Total 355.5.")], 0),
        ([heard(GYMS), *LOOKED, said(GYMS)], 0),
        ([*tool("find_gyms", {"near": GYMS}, "ok"), said(GYMS)], 0),
        ([*tool("find_gyms", {"near": ""}, {"rows": [212.5, 410.5, 917.5, 355.5]}), said(GYMS)], 0),
        ([*tool("find_gyms", {"near": ""}, "x\n212.5\n410.5\n917.5\n355.5"), said(GYMS)], 0),
        ([*tool("find_gyms", {"near": ""}, "212.5,410.5,917.5,355.5"), said(GYMS)], 0),
        ([*tool("find_gyms", {"near": ""}, "\x00212.5\x00410.5\x00917.5\x00355.5"), said(GYMS)], 0),
        (
            [
                *tool("find_gyms", {"near": ""}, "1,212 1,410 2,917 1,355"),
                said("1,212, 1,410, 2,917 and 1,355 of them."),
            ],
            0,
        ),
        ([heard(without(9)), *LOOKED, said(f"{without(13)} Bye.")], 0),  # four of thirteen
        ([heard(without(6)), *LOOKED, said(f"{without(10)} Bye.")], 1),  # four of ten
    ],
)
def test_figures_come_from_somewhere(events: Events, count: int) -> None:
    talk = (START, heard("Which gyms are near?"), *events, END)

    assert len(found(unsupported_claims, *talk)) == count


@pytest.mark.parametrize(
    ("more", "words"), [(0, "gives."), (1, "So do 1 more messages."), (2, "So do 2 more messages.")]
)
def test_messages_with_figures_are_counted(more: int, words: str) -> None:
    others = [said(GYMS.replace(".5", f".{6 + number}")) for number in range(more)]
    (cause,) = found(unsupported_claims, START, heard("Which are near?"), *LOOKED, said(GYMS), *others, END)

    assert cause.description.endswith(words)


def test_the_first_words_of_a_run_may_hold_any_figures() -> None:
    assert found(unsupported_claims, START, said(GYMS), *LOOKED, END) == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is 20 - 5 = 15 dollars.", 0),
        ("It is 20 - 5 = 25 dollars.", 1),
        ("It is 20 - 5 + 3 = 18 dollars.", 0),
        ("It is 20 * 5 = 100 dollars.", 0),
        ("It is 20 * 5 = 110 dollars.", 1),
        ("It is 20 / 5 = 4 dollars.", 0),
        ("It is $20 + $5 = \u20ac22.", 0),  # another currency
        ("It is $20 + $5 = \u20ac22, and 20 + 5 = 26.", 1),
        ("It is 20 + 5 = 25, and 20 + 6 = 27.", 1),
        ("Is it 20 + 5 = 26?", 0),
    ],
)
def test_a_calculation_is_made_again(text: str, count: int) -> None:
    assert len(found(wrong_arithmetic, START, heard("What do they cost?"), said(text), END)) == count
