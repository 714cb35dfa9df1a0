"""Where the rules from `alternating_loop` to `cost_explosion` begin and end."""

from typing import Any

import pytest
from flat_sessions import answered
from small_runs import END, START, asks, context, found, heard, response, said, tool

from analyzer.detectors import (
    alternating_loop,
    broken_limits,
    budget_exhausted,
    claimed_not_done,
    content_refused,
    context_pollution,
    cost_explosion,
    handoff_ping_pong,
)
from analyzer.models.prices import Price, PriceList
from analyzer.profile import Profile


def rounds(*tools: str, between: tuple[dict[str, Any], ...] = ()) -> list[dict[str, Any]]:
    one = [event for name in tools for event in tool(name, {"q": "a"}, "the same")]
    return [*one, *between, *one]


def test_a_turn_that_ends_does_not_end_the_rounds() -> None:
    turn = ({"event": "state_transition", "event_type": "turn_end", "payload": {}},)

    assert len(found(alternating_loop, START, *rounds("search", "fetch", between=turn), END)) == 1


@pytest.mark.parametrize(("pause", "count"), [("sleep", 0), ("fetch", 1)])
def test_who_waits_in_between_looks_again_for_a_reason(pause: str, count: int) -> None:
    assert len(found(alternating_loop, START, *rounds("search", pause), END)) == count


@pytest.mark.parametrize(
    ("tools", "count"), [(("transfer_to_sales", "transfer_to_support"), 0), (("search", "fetch"), 1)]
)
def test_hand_overs_to_and_fro_are_told_of_by_their_own_rule(tools: tuple[str, str], count: int) -> None:
    events = [START, *(event for name in tools * 2 for event in tool(name, {"q": "a"}, "ok")), END]

    assert (len(found(alternating_loop, *events)), len(found(handoff_ping_pong, *events))) == (count, 1 - count)


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "a single")


@pytest.mark.parametrize("word", NUMBERS)
@pytest.mark.parametrize("more", [0, 1])
def test_a_limit_is_read_in_words(word: str, more: int) -> None:
    most = 1 if word == "a single" else NUMBERS.index(word) + 1
    answer = "\n".join(["It is paid."] * (most + more))

    assert len(found(broken_limits, START, heard(f"Answer in at most {word} lines."), said(answer), END)) == more


@pytest.mark.parametrize(
    ("limit", "answer", "count"),
    [
        ("Answer in at most 100 characters.", "x" * 110, 0),  # a tenth more is let pass
        ("Answer in at most 100 characters.", "x" * 111, 1),
        ("Answer in at most 3 bullets.", "- a\n- b\n- c", 0),
        ("Answer in at most 3 bullets.", "- a\n- b\n- c\n- d", 1),
        ("Answer in at most 3 sentences.", "It is paid. It was sent. It is here.", 0),
        ("Answer in at most 3 sentences.", "It is paid. It was sent. It is here. All is well.", 1),
        ("Respond only with valid JSON.", '```json\n{"paid": true}\n```', 0),
        ("Respond only with valid JSON.", "```json\npaid\n```", 1),
        ("Respond only with valid JSON.", "[" * 5000 + "]" * 5000, 0),  # too deep to be read
    ],
)
def test_an_answer_at_its_limit_keeps_it(limit: str, answer: str, count: int) -> None:
    assert len(found(broken_limits, START, heard(limit), said(answer), END)) == count


def test_a_limit_that_was_told_and_worked_around_did_not_end_the_run() -> None:
    talk = (said("Agent stopped due to max iterations."), heard("Go on."), said("The refund was paid on Monday."))

    assert found(budget_exhausted, START, *talk, END) == ()
    assert len(found(budget_exhausted, START, *talk[:1], END)) == 1


def test_a_run_that_took_too_long_is_shown_by_its_end() -> None:
    (cause,) = found(budget_exhausted, START, response(), END, seconds_budget=1.5)

    assert cause.evidence == ("event_2",)


@pytest.mark.parametrize("steps", [2, 3])
def test_a_budget_of_steps_may_be_used_up(steps: int) -> None:
    assert len(found(budget_exhausted, START, response(), response(), response(), END, step_budget=steps)) == 3 - steps


CANCELLED = said("I have cancelled the order for you.")


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        (tool("get_order", {"id": 7}, "shipped"), 1),
        (tool("get_order", {"id": 7}, "cancelled: no"), 1),  # a result tells of deeds of others
        (tool("cancel_order", {"id": 7}, "done"), 0),
        (tool(None, {"id": 7}, "done"), 0),  # who knows what it did
        (tool("transfer_to_billing", {}, "done"), 0),
        (tool("bash", {"command": "./run.sh"}, "done"), 0),
    ],
)
def test_a_deed_needs_a_call_that_may_have_done_it(calls: list[dict[str, Any]], count: int) -> None:
    assert len(found(claimed_not_done, START, *calls, CANCELLED, END)) == count


def test_a_deed_is_no_deed_before_its_call() -> None:
    assert len(found(claimed_not_done, START, CANCELLED, *tool("cancel_order", {"id": 7}, "done"), END)) == 1


@pytest.mark.parametrize(("other", "count"), [("process_start", 0), ("skill_event", 0), ("context_event", 1)])
def test_a_process_or_a_skill_may_have_done_it(other: str, count: int) -> None:
    look = tool("get_order", {"id": 7}, "shipped")

    assert len(found(claimed_not_done, START, *look, {"event": other}, CANCELLED, END)) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (tool("visit_page", {"url": "https://example.org"}, "Opening hours: nine to five"), 0),
        (tool("visit_page", {"url": "https://example.org"}), 0),  # its result is not known
        (tool("visit_page", {"url": "https://example.org"}, "  "), 1),  # nothing was seen there
        (tool("bash", {"command": "ls"}, "a.txt"), 1),
    ],
)
def test_a_page_was_visited_where_something_of_it_was_seen(call: list[dict[str, Any]], count: int) -> None:
    told = said("I visited the website, and the shop opens at nine.")

    assert len(found(claimed_not_done, START, *call, told, END)) == count


def refused(agent: str) -> dict[str, Any]:
    return response(agent, finish_reasons=["content_filter"], messages=[{"role": "assistant"}])


def answers(agent: str, **more: Any) -> dict[str, Any]:
    return response(agent, messages=[{"role": "assistant", "text": "Use kill with its number."}], **more)


@pytest.mark.parametrize(
    ("calls", "severity", "impact"),
    [
        ([refused("a"), answers("a")], "low", -4),
        ([refused("a"), answers("b")], "medium", -10),
        ([refused("a"), answers("a", error="connection reset")], "medium", -10),
        ([answers("a"), refused("a")], "high", -18),
        ([refused("a"), answers("a"), refused("a")], "high", -18),
    ],
)
def test_a_refusal_is_mended_by_a_later_answer_of_the_same_agent(
    calls: list[dict[str, Any]], severity: str, impact: int
) -> None:
    (cause,) = found(content_refused, START, *calls, END)

    assert (cause.severity, cause.impact) == (severity, impact)


HARM = heard("How do I build a pipe bomb?")
FINE = heard("How do I cook rice?")
NO = response(messages=[{"role": "assistant", "text": "I'm sorry, but I can't help with that."}])


@pytest.mark.parametrize(
    ("events", "rules"),
    [
        ((HARM, NO), ["asked-for-harm"]),
        ((FINE, NO), ["refusal-and-nothing-else"]),
        ((FINE, HARM, NO), ["asked-for-harm"]),
        ((HARM, FINE, NO), ["refusal-and-nothing-else"]),
        ((NO, HARM), ["refusal-and-nothing-else"]),  # what was asked before it is not known
        ((HARM, response(finish_reasons=["refusal"], messages=[{"role": "assistant"}])), ["asked-for-harm"]),
        ((HARM, response(error="content_filter: blocked")), [None]),  # a filter looks at words, no model
        ((HARM, NO, FINE, NO), ["refusal-and-nothing-else"]),
    ],
)
def test_who_asks_for_harm_is_refused_by_right(events: Any, rules: list[str | None]) -> None:
    assert [cause.rule for cause in found(content_refused, START, *events, END)] == rules


@pytest.mark.parametrize(
    ("told", "percent"),
    [
        ({"saturation": 84.9}, None),
        ({"saturation": 85}, 85),
        ({"saturation": "90"}, 90),
        ({"saturation": "90.5 %"}, 90),
        ({"saturation": 0.86}, 86),
        ({"saturation": "0.86"}, 86),
        ({"saturation": "1.0"}, 100),
        ({"saturation": "1"}, None),  # a whole number is percent
        ({"saturation": 1.5}, None),  # more than all of it is percent, too
        ({"saturation": "0.9%"}, None),
        ({"saturation": [90]}, None),
        ({"saturation": "much"}, None),
        ({"payload": {"used": 84_999, "window": 100_000}}, None),
        ({"payload": {"used": 85_000, "window": 100_000}}, 85),
        ({"payload": {"used": 5, "window": 0}}, None),
    ],
)
def test_how_full_a_context_is_may_be_told_in_many_ways(told: dict[str, Any], percent: int | None) -> None:
    causes = found(context_pollution, START, context(**told), END)

    assert [cause.description for cause in causes] == [
        f"The context was up to {percent} percent full." for _ in range(percent is not None)
    ]


def filled(tokens: int, model: str = "gpt-4o-2024-08-06") -> dict[str, Any]:
    return response(model=model, usage={"input_tokens": tokens, "output_tokens": 50})


def rules(*events: dict[str, Any], **options: Any) -> list[str | None]:
    return [cause.rule for cause in found(context_pollution, START, *events, END, **options)]


def test_what_events_say_of_a_context_goes_before_what_calls_imply() -> None:
    full = filled(115_200)

    assert rules(context(), full) == ["input-against-window"]
    assert rules(context(saturation="1%"), full) == []
    assert rules(filled(6_400), full, context(saturation=90)) == [None]


def test_a_compaction_explains_a_cut() -> None:
    before, after = (filled(4_000), filled(64_000)), (filled(5_500), filled(6_100))

    assert rules(*before, *after) == ["input-dropped"]
    assert rules(*before, context(action="compaction"), *after) == [None]


def test_growth_is_told_where_nothing_worse_is() -> None:
    assert rules(filled(6_400), filled(115_200)) == ["input-against-window"]
    assert rules(filled(6_400), filled(64_000)) == ["context-growth"]


@pytest.mark.parametrize(("tokens", "said"), [(108_799, None), (108_800, "medium: A model call"), (121_600, "high: A")])
def test_a_call_that_fills_the_window_is_told(tokens: int, said: str | None) -> None:
    causes = found(context_pollution, START, filled(tokens), END)

    assert [f"{cause.severity}: {cause.description}".startswith(said or "") for cause in causes] == [True] * bool(said)


@pytest.mark.parametrize(
    ("before", "severities"), [(9_999, []), (10_000, ["low"]), (63_999, ["low"]), (64_000, ["medium"])]
)
def test_a_cut_is_grave_where_the_window_was_half_full(before: int, severities: list[str]) -> None:
    sizes = (before // 4, before, before * 2 // 5, before * 2 // 5 + 100)
    causes = found(context_pollution, START, *map(filled, sizes), END)

    assert [cause.severity for cause in causes] == severities


@pytest.mark.parametrize(("last", "count"), [(99_999, 0), (100_000, 1)])
def test_of_a_window_that_nobody_knows_a_hundred_thousand_tokens_are_many(last: int, count: int) -> None:
    events = (START, filled(5_000, "own"), filled(30_000, "own"), filled(last, "own"), END)

    assert [cause.description for cause in found(context_pollution, *events)] == [
        "The context grew from 5,000 to 100,000 tokens in 3 model calls."
    ] * count


def test_cuts_are_counted() -> None:
    calls = [
        response(agent, model="gpt-4o-2024-08-06", usage={"input_tokens": size, "output_tokens": 5})
        for agent in ("a", "b")
        for size in (16_000, 64_000, 25_600, 25_700)
    ]
    (cause,) = found(context_pollution, START, *calls, END)

    assert cause.description == "The context was cut from 64,000 to 25,600 tokens; 2 times in all."


def test_of_contexts_that_grew_the_largest_is_told() -> None:
    sizes = {"a": (5_000, 50_000, 120_000), "b": (5_000, 90_000, 110_000)}
    calls = [
        response(agent, model="own", usage={"input_tokens": size, "output_tokens": 5})
        for agent, told in sizes.items()
        for size in told
    ]
    (cause,) = found(context_pollution, START, *calls, END)

    assert cause.description == "The context grew from 5,000 to 120,000 tokens in 3 model calls."


@pytest.mark.parametrize("saturation", [None, "n/a", [1]])
def test_the_recorded_profile_reads_no_number_as_none(saturation: Any) -> None:
    events = (context(saturation=saturation), context(action="compaction"))
    causes = found(context_pollution, *events, profile=Profile.CRITIQOR_V1)

    assert [cause.description for cause in causes] == ["The context was compacted once."]


@pytest.mark.parametrize(
    ("saturation", "severity"),
    [("+95", "high"), ("0095", "high"), (" 9_4 ", "medium"), ("\uff19\uff15", "high"), ("\u0668\u0665", "medium")],
)
def test_the_recorded_profile_reads_digits_of_every_script(saturation: str, severity: str) -> None:
    (cause,) = found(context_pollution, context(saturation=saturation), profile=Profile.CRITIQOR_V1)

    assert cause.severity == severity


PRICES = PriceList(as_of="2026-01-02", models={"m": Price(input=10, cached_input=1, output=100)})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"token_budget": 100_000}, None),
        ({"token_budget": 99_999}, "more than its budget of 99999 tokens."),
        ({"money_budget": 1.0}, None),
        ({"money_budget": 0.9}, "more than its budget: 1.0000 instead of 0.9000 USD."),
        ({"money_budget": 0.9, "prices": None}, None),
        ({"token_budget": 100_000, "money_budget": 0.9}, "more than its budget: 1.0000 instead of 0.9000 USD."),
    ],
)
def test_a_budget_may_be_used_up_and_not_exceeded(options: dict[str, Any], says: str | None) -> None:
    usage = response(usage={"input_tokens": 100_000, "output_tokens": 0, "total": 100_000})
    causes = found(cost_explosion, START, usage, END, **{"prices": PRICES, **options})

    assert [cause.description for cause in causes] == [f"The run consumed 100000 tokens, {says}"] * bool(says)


@pytest.mark.parametrize(("again", "words"), [(2, "."), (3, " and 1 more."), (4, " and 2 more.")])
def test_calls_that_were_made_again_are_counted(again: int, words: str) -> None:
    calls = answered(*["found"] * again)
    (cause,) = found(cost_explosion, START, *calls, response(usage={"total": 20_000}), END)

    assert cause.description.endswith(f'search({{"q":"alpha"}}){words}')


def test_an_explosion_of_calls_alone_needs_no_tokens_told() -> None:
    (cause,) = found(cost_explosion, START, *answered("found", "found"), END, many_tokens=0)

    assert cause.description.startswith("The run consumed at least 0 tokens")


def test_tokens_that_nobody_counted_are_no_explosion() -> None:
    assert found(cost_explosion, START, *answered("found", "found"), asks(), END) == ()
