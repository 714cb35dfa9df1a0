"""Where the rules from `duplicate_side_effect` to `invented_data` begin and end."""

from typing import Any

import pytest
from small_runs import END, START, asks, found, heard, said, tool

from analyzer.detectors import (
    duplicate_side_effect,
    empty_result_as_success,
    handoff_ping_pong,
    ignoring_tool_outputs,
    infinite_tool_loop,
    invalid_arguments,
    invented_data,
    service_error,
    tool_timeout,
)
from analyzer.profile import Profile

Events = list[dict[str, Any]]


def orders(count: int, name: str = "order_pizza") -> Events:
    return [event for number in range(count) for event in tool(name, {"size": 30}, {"id": f"o-{number}"})]


IN_WORDS = {
    2: "two twice zwei zweimal deux dos dois duas два две",
    3: "three thrice drei dreimal trois tres tre três три",
    4: "four vier quatre cuatro quattro quatro четыре",
    5: "five fünf cinq cinco cinque пять",
    6: "6",
}


@pytest.mark.parametrize(("count", "word"), [(n, word) for n, words in IN_WORDS.items() for word in words.split()])
def test_what_is_ordered_by_number_is_done_as_often(count: int, word: str) -> None:
    asked = heard(f"Please order {word} pizzas of the same kind.")

    assert found(duplicate_side_effect, START, asked, *orders(count), END) == ()
    assert len(found(duplicate_side_effect, START, asked, *orders(count + 1), END)) == 1


@pytest.mark.parametrize(("count", "text"), [(2, "两"), (2, "二"), (3, "三"), (4, "四"), (5, "五")])
def test_numbers_are_read_where_no_spaces_are(count: int, text: str) -> None:
    assert found(duplicate_side_effect, START, heard(f"请订{text}张票"), *orders(count, "order_ticket"), END) == ()
    assert len(found(duplicate_side_effect, START, heard("请订票"), *orders(count, "order_ticket"), END)) == 1


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ({"status": "ok"}, {"status": "ok"}, 1),
        ({"id": "o-1"}, {"id": "o-1"}, 0),  # the same order again
        ({"id": "o-1"}, {"id": "o-2"}, 1),
    ],
)
def test_equal_orders_are_two_unless_their_id_is_one(first: Any, second: Any, count: int) -> None:
    calls = [*tool("order_pizza", {"size": 30}, first), *tool("order_pizza", {"size": 30}, second)]

    assert len(found(duplicate_side_effect, START, heard("I am hungry."), *calls, END)) == count


def twice(name: str, args: Any = None, result: Any = "done") -> Events:
    return [*tool(name, args, result), *tool(name, args, result)]


@pytest.mark.parametrize(
    "before",
    [
        twice("get_menu", {"page": 1}),
        [*twice("order_drink"), *tool("order_drink", {}, "done")],  # three are a loop
        [*tool("order_pizza", {"size": 30}, error="closed")],
    ],
)
def test_what_happened_before_does_not_hide_an_order_that_was_made_twice(before: Events) -> None:
    causes = found(duplicate_side_effect, START, heard("I am hungry."), *before, *orders(2), END)

    assert [cause.description for cause in causes] == ['order_pizza({"size":30}) was done twice.']


@pytest.mark.parametrize(("more", "count"), [((), 1), (("And another one, please.",), 0)])
def test_what_the_user_asks_for_again_in_the_middle_of_the_work_is_done_again(
    more: tuple[str, ...], count: int
) -> None:
    first, again = ([{"role": "user", "text": text} for text in ("I am hungry.", *words)] for words in ((), more))
    requests = [
        {
            "event_type": "before_provider_request",
            "payload": {"agent": "helper", "messages": told, "messages_total": len(told)},
        }
        for told in (first, again)
    ]
    calls = [
        [asks((name, "order_pizza", {})), *tool("order_pizza", {}, "done", tool_call_id=name)] for name in ("c1", "c2")
    ]
    events = (START, requests[0], *calls[0], requests[1], *calls[1], END)

    assert len(found(duplicate_side_effect, *events)) == count


def test_three_equal_orders_with_one_result_are_a_loop() -> None:
    calls = [event for _ in range(3) for event in tool("order_pizza", {"size": 30}, "done")]

    assert found(duplicate_side_effect, START, *calls, END) == ()
    assert len(found(infinite_tool_loop, START, *calls, END)) == 1


def test_a_tool_that_is_declared_to_act_counts_more() -> None:
    (seems,) = found(duplicate_side_effect, START, *orders(2), END)
    (acts,) = found(duplicate_side_effect, START, *orders(2), END, side_effect_tools=("order_*",))

    assert (seems.severity, seems.impact, seems.rule) == ("medium", -10, "writing-tool")
    assert (acts.severity, acts.impact, acts.rule) == ("high", -18, None)


def test_the_second_order_is_shown_with_the_response_that_asked_for_it() -> None:
    calls = [asks(("c1", "order_pizza", {})), *tool("order_pizza", {}, "done", tool_call_id="c1")]
    again = [asks(("c2", "order_pizza", {})), *tool("order_pizza", {}, "done", tool_call_id="c2")]
    (cause,) = found(duplicate_side_effect, START, *calls, *again, END)

    assert cause.evidence == ("event_4", "event_5", "event_2", "event_3", "event_6")


@pytest.mark.parametrize(
    ("result", "count"),
    [
        (None, 1),
        ("", 1),
        ([], 1),
        ({"rows": [], "total": 0}, 1),
        ({"rows": None}, 1),
        ({"found": 0}, 1),
        ({"done": True, "rows": []}, 1),
        ({"found": 1}, 0),
        ({"found": False, "why": "closed"}, 0),
        (f"No results for this. {'x' * 59}", 1),
        (f"No results for this. {'x' * 60}", 0),  # so long a text says more
        (["a"], 0),
    ],
)
@pytest.mark.parametrize(("answer", "claims"), [("It is nine!!", True), ("It is nine!", False)])
def test_an_answer_on_nothing_claims_something(result: Any, count: int, answer: str, *, claims: bool) -> None:
    events = (START, heard("When do you open?"), *tool("search", {"q": "hours"}, result), said(answer), END)

    assert len(found(empty_result_as_success, *events)) == (count if claims else 0)


@pytest.mark.parametrize(
    ("looks", "words"), [(1, " found"), (2, " (1 more look-up too) found"), (3, " (2 more look-ups too) found")]
)
def test_empty_look_ups_are_counted(looks: int, words: str) -> None:
    calls = [event for number in range(looks) for event in tool("search", {"q": number}, [])]
    (cause,) = found(empty_result_as_success, START, heard("When?"), *calls, said("We open at nine."), END)

    assert cause.description.startswith(f'search({{"q":0}}){words}')


def test_failures_that_were_made_up_for_are_left_out_beside_others() -> None:
    mended = [*tool("fetch", {"url": "a"}, error="timed out"), *tool("fetch", {"url": "a"}, "text of a")]
    lost = tool("fetch", {"url": "b"}, error="timed out")
    (cause,) = found(tool_timeout, START, heard("Sum both up."), *mended, *lost, said("All is well with both."), END)

    assert cause.severity == "medium"
    assert "more call" not in cause.description


@pytest.mark.parametrize(
    ("output", "confidence"),
    [
        ({"output": "503 Service Unavailable"}, "medium"),
        ({"status": "error", "error": "503 Service Unavailable"}, "high"),
    ],
)
def test_a_failure_that_only_a_result_tells_is_less_certain(output: dict[str, Any], confidence: str) -> None:
    begun, ended = {"event": "tool_call", "tool": "fetch"}, {"event": "tool_output", "tool": "fetch", **output}
    (cause,) = found(service_error, START, begun, ended, {**END, "status": "error", "error": "gave up"})

    assert (cause.severity, cause.confidence) == ("high", confidence)


def hands(*agents: str) -> Events:
    return [event for name in agents for event in tool(f"transfer_to_{name}", {}, "ok")]


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        (hands("sales", "support", "sales", "support"), 1),
        (hands("sales", "support", "sales"), 0),
        (hands("sales", "support", "billing", "sales", "support", "billing"), 0),  # in a circle, each once
        (hands("sales", "support", "billing", "support"), 0),
        (hands("sales", "sales", "sales", "sales"), 0),
        ([*tool("search", {}, "x"), *hands("sales", "support", "sales")], 0),
        ([*hands("sales", "support"), *tool("search", {}, "x"), *hands("sales", "support")], 0),
        ([*tool(None, {}, "x"), *hands("sales", "support", "sales", "support")], 1),
    ],
)
def test_hand_overs_go_to_and_fro_between_two(calls: Events, count: int) -> None:
    assert len(found(handoff_ping_pong, START, *calls, END)) == count


def asked_of(agent: str, name: str, words: str) -> Events:
    begun = {"event": "tool_call", "tool": f"transfer_to_{name}", "args": {}, "payload": {"agent": agent}}
    return [begun, {"event": "tool_output", "tool": f"transfer_to_{name}", "output": words}]


def test_agents_that_answer_one_who_asks_them_in_turn_are_its_tools() -> None:
    one = [*asked_of("boss", "sales", "Costs seventeen."), *asked_of("boss", "support", "Works again tomorrow.")]

    assert found(handoff_ping_pong, START, *one, *one, END) == ()


def test_agents_that_pass_the_task_on_with_words_are_none() -> None:
    one = [*asked_of("support", "sales", "Costs seventeen."), *asked_of("sales", "support", "Works again tomorrow.")]

    assert len(found(handoff_ping_pong, START, *tool("transfer_to_support", {}, "ok"), *one, *one, END)) == 1


PRICE = {"price": 10.55, "unit": "piece"}


def priced(name: str | None = "get_price", result: Any = None, **more: Any) -> Events:
    return tool(name, {"sku": "A"}, PRICE if result is None else result, **more)


def answer(text: str) -> dict[str, Any]:
    return {**END, "payload": {"agent": "helper", "output": text}}


def unused(*events: dict[str, Any], text: str = "It costs 77.36 dollars.", **options: Any) -> list[str]:
    causes = found(ignoring_tool_outputs, START, heard("What does it cost?"), *events, answer(text), **options)
    return [f"{cause.severity}: {cause.description}" for cause in causes]


LOW = "low: Nothing of the tool output of get_price turns up in what the agent did or said afterwards."
MEDIUM = f"medium{LOW[3:-1]}; its answer states 77.36, which stands nowhere."


@pytest.mark.parametrize(
    ("calls", "text", "expected"),
    [
        (priced(), "It costs 77.36 dollars.", [MEDIUM]),
        (priced(), "It costs 10.55 dollars.", []),
        (priced(), "It costs 9 dollars.", [LOW]),  # one digit is as often a count
        (priced(), "It costs a bit.", [LOW]),
        (priced(None), "It costs 77.36 dollars.", []),
        ([*tool("open_page", {}, "opened 1234567"), *priced()], "It costs a bit.", [LOW]),
        ([*tool("write_note", {}, "wrote 1234567"), *priced()], "It costs a bit.", [LOW]),
        ([*tool("press_key", {}, "pressed 1234567")], "It costs a bit.", []),
        ([*tool("get_stock", {}, {"stock": 7351}), *priced()], "7351 are left, for 77.36 dollars.", [LOW]),
        ([*tool("get_stock", {}, error="failed 7351"), *priced()], "It costs 77.36 dollars.", [MEDIUM]),
        (tool("get_price", {"sku": "A", "tax": 83.17}, PRICE), "It costs 93.72 dollars.", [LOW]),  # worked out
        (priced(), "It costs 93.72 dollars.", [MEDIUM.replace("77.36", "93.72")]),
        ([*tool("get_stock", {"number": 77.36}, {"stock": 7351}), *priced()], "It costs 77.36 dollars.", None),
    ],
)
def test_an_answer_that_takes_nothing_from_an_output_is_told(calls: Events, text: str, expected: Any) -> None:
    told = unused(*calls, text=text)

    assert told == expected if expected is not None else told[0].startswith("low")


@pytest.mark.parametrize(
    "options",
    [{"side_effect_tools": ("get_*",)}, {"polling_tools": ("get_*",)}, {"side_effect_tools": ("a", "get_price")}],
)
def test_tools_that_are_named_to_act_or_to_be_polled_need_no_use(options: dict[str, Any]) -> None:
    assert unused(*priced(), **options) == []


@pytest.mark.parametrize("mark", [{"used": True}, {"referenced": True}])
def test_an_output_that_is_marked_as_used_was_used(mark: dict[str, Any]) -> None:
    begun, ended = priced()

    assert unused(begun, {**ended, **mark}) == []


def test_outputs_without_a_tool_went_unused_too() -> None:
    marked = {"event": "tool_output", "output": "x", "used": False}

    assert unused(marked, text="So.") == ["medium: 1 tool output went unused."]


def test_no_more_than_three_invented_numbers_are_named() -> None:
    (told,) = unused(*priced(), text="It costs 99.15, 88.23, 77.36, 66.41 or 54.48 dollars.")

    assert told.endswith("states 54.48, 66.41, 77.36, which stands nowhere.")


def loop(name: str, count: int, *, result: Any = "same", args: Any = None) -> Events:
    return [event for _ in range(count) for event in tool(name, args, result)]


@pytest.mark.parametrize(
    "before", [loop("get_menu", 2), loop("press_key", 3, args={"key": "down"}), loop("get_page", 3)]
)
def test_one_habit_does_not_hide_another(before: Events) -> None:
    causes = found(infinite_tool_loop, START, *before, *loop("search", 3), END, polling_tools=("get_page",))

    assert [cause.description.partition("(")[0] for cause in causes] == ["search"]


@pytest.mark.parametrize(("presses", "count"), [(9, 0), (10, 1)])
def test_keys_are_pressed_several_times(presses: int, count: int) -> None:
    assert len(found(infinite_tool_loop, START, *loop("press_key", presses, args={"key": "down"}), END)) == count


def test_the_recorded_profile_tells_every_loop() -> None:
    events = (START, *loop("get_menu", 2), *loop("search", 3), *loop("fetch", 3), END)

    assert len(found(infinite_tool_loop, *events, profile=Profile.CRITIQOR_V1)) == 2


@pytest.mark.parametrize(("names", "loops"), [((1, 1, 1), 1), ((1, 1, "1"), 0), ((None, None, {"a": 1}), 0)])
def test_the_recorded_profile_tells_tools_apart_whatever_their_type(names: tuple[Any, ...], loops: int) -> None:
    calls = [{"event": "tool_call", "tool": name, "args": {"q": "a"}} for name in names]

    assert len(found(infinite_tool_loop, *calls, profile=Profile.CRITIQOR_V1)) == loops


def test_a_loop_whose_results_are_not_known_is_less_certain() -> None:
    calls = [event for _ in range(3) for event in tool("search", {"q": "a"})]
    (cause,) = found(infinite_tool_loop, START, *calls, END)

    assert cause.confidence == "medium"
    assert cause.description.endswith("; what it gave is not known.")


def test_a_loop_whose_arguments_are_known_by_digest_is_the_same_failure_in_each_run() -> None:
    """The digest is made with a key of its run's own."""
    loops = [
        [event for _ in range(3) for event in tool("search", result="x", payload={"input_fingerprint": digest})]
        for digest in ("a1b2", "c3d4")
    ]
    for events in loops:
        for event in events:
            event.pop("args", None)
    (one,), (other,) = (found(infinite_tool_loop, START, *events, END) for events in loops)

    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize(("retries", "words"), [(0, "each time."), (1, "with 1 retry."), (2, "with 2 retries.")])
def test_the_retries_of_a_loop_are_counted(retries: int, words: str) -> None:
    again = [{"event": "retry_event", "tool": "search", "args": {}, "tool_call_id": "c"}] * retries
    calls = [*loop("search", 2, args={}), *tool("search", {}, "same", tool_call_id="c")]
    (cause,) = found(infinite_tool_loop, START, *calls[:5], *again, *calls[5:], END)

    assert cause.description.endswith(words)


@pytest.mark.parametrize(("looks", "count"), [(4, 0), (3, 0), (2, 1)])
def test_pauses_between_looks_are_no_loop(looks: int, count: int) -> None:
    waiting = [event for turn in range(3) for event in (*tool("sleep", {"s": 5}, "ok"), *_looks(turn, looks))]

    assert len(found(infinite_tool_loop, START, *waiting, END)) == count


def _looks(turn: int, looks: int) -> Events:
    """Return as many looks as are left for a turn: the last pause needs none behind it."""
    many = (looks - turn) // 2 if turn < 2 else 0
    return [event for number in range(many) for event in tool("get_state", {"n": f"{turn}.{number}"}, turn)]


SCHEMA = {"type": "object", "properties": {"hour": {"type": "integer"}}, "required": ["hour"]}
OFFERS = {
    "event_type": "before_provider_request",
    "payload": {
        "model": "m",
        "tools": [{"name": name, "parameters": SCHEMA} for name in ("set_alarm", "set_timer")],
    },
}


@pytest.mark.parametrize(
    ("calls", "described"),
    [
        (
            [*tool("set_alarm", {"hour": "x"}, "ok"), *tool("set_timer", {"hour": "x"}, "ok")],
            ["set_alarm", "set_timer"],
        ),
        ([*tool("set_alarm", {"hour": "x"}, "ok"), *tool("set_alarm", {"hour": "y"}, "ok")], ["set_alarm"]),
        (tool("set_alarm", {"hour": 7}, "ok"), []),
    ],
)
def test_a_tool_that_takes_what_breaks_its_schema_is_told(calls: Events, described: list[str]) -> None:
    causes = found(invalid_arguments, START, OFFERS, *calls, END)

    assert [cause.description.partition("(")[0] for cause in causes] == described


def test_a_refusal_says_itself_what_was_wrong() -> None:
    refused = "1 validation error: hour must be a number"
    (cause,) = found(invalid_arguments, START, OFFERS, *tool("set_alarm", {}, error=refused), END)

    assert f"“{refused}”" in cause.description


def test_a_refusal_without_a_schema_says_itself_what_was_wrong() -> None:
    (cause,) = found(invalid_arguments, START, *tool("set_alarm", {}, error="invalid arguments: hour"), END)

    assert "“invalid arguments: hour”" in cause.description


WANTED = heard("What volume does the paper give?")


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("Let us assume that we have obtained the paper.", 1),
        ("The paper is not here, so let us assume that we have obtained the paper.", 1),
        ("We do not go on: never let us assume that we have obtained the paper.", 0),
        ("Do not stop: I will create it, using sample data for now.", 1),
        ("The numbers are not there, I will create sample data for now.", 1),
    ],
)
def test_what_is_denied_elsewhere_is_made_up_all_the_same(sentence: str, count: int) -> None:
    assert len(found(invented_data, START, WANTED, said(sentence), END)) == count


@pytest.mark.parametrize(
    ("args", "count"),
    [
        ({"code": "key = 'YOUR_API_KEY'"}, 1),
        ({"code": "key = 'sk-XXXXXXXX'"}, 1),
        ({"code": 'key = "sk-XXXXXXXX"'}, 1),
        ({"code": "roman = XXXX"}, 0),
        ("key = 'YOUR_API_KEY'", 1),
        (["key = 'YOUR_API_KEY'"], 1),
        ({"cells": [{"source": "key = 'YOUR_API_KEY'"}]}, 1),
        (["key = 1", {"code": "key = 2"}], 0),
        (7, 0),
        ({"code": "print(1)"}, 0),
    ],
)
def test_a_placeholder_that_was_run_is_made_up(args: Any, count: int) -> None:
    calls = [*tool("search", {"q": "YOUR_API_KEY"}, "x"), *tool("run_code", args, "ok")]

    assert len(found(invented_data, START, WANTED, *calls, END)) == count
