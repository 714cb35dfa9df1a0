"""What a run cost in money, and what of it was for nothing."""

from typing import Any

import pytest
from flat_sessions import Raw, answered, call, output, session_of

from analyzer.cost import CostAnalysis
from analyzer.diagnosis import Profile, diagnose
from analyzer.models.prices import Price, PriceList
from analyzer.options import Options

PRICES = PriceList(as_of="2026-01-02", models={"m": Price(input=10, cached_input=1, output=100)})


def response(model: str | None = "m", **more: Any) -> Raw:
    usage = {name: more.pop(name) for name in tuple(more) if name.endswith("tokens") or name == "total"}
    payload = {"model": model, **({"usage": usage} if usage else {}), **more}
    return {"event": "token_usage", "event_type": "after_provider_response", "payload": payload}


def cost_of(*events: Raw, **options: Any) -> CostAnalysis:
    return diagnose(session_of(*events), options=Options(**{"prices": PRICES, **options})).cost_analysis


def test_calls_are_priced_by_model_and_added_up() -> None:
    costs = cost_of(
        response(input_tokens=100_000, output_tokens=1_000),
        response(input_tokens=100_000, cached_input_tokens=50_000, output_tokens=0),
    )

    assert costs.cost == pytest.approx(1 + 0.1 + 0.5 + 0.05)
    assert (costs.cost_complete, costs.currency, costs.prices_as_of) == (True, "USD", "2026-01-02")
    assert costs.unpriced_models == ()


def test_a_cost_that_the_trace_reports_goes_before_the_list() -> None:
    assert cost_of(response(input_tokens=100, output_tokens=1, cost_usd=0.25)).cost == pytest.approx(0.25)


def test_a_cost_in_dollars_says_nothing_in_another_currency() -> None:
    prices = PriceList(as_of="2026-01-02", currency="EUR", models=PRICES.models)
    costs = cost_of(response(input_tokens=100_000, output_tokens=0, cost_usd=0.25), prices=prices)

    assert (costs.cost, costs.currency) == (1.0, "EUR")


def test_a_call_without_usage_makes_it_a_lower_bound() -> None:
    costs = cost_of(response(input_tokens=100_000, output_tokens=0), response())

    assert (costs.cost, costs.cost_complete) == (1.0, False)


def test_a_model_without_a_price_makes_it_a_lower_bound() -> None:
    costs = cost_of(response(input_tokens=100_000, output_tokens=0), response("x", input_tokens=5, output_tokens=5))

    assert (costs.cost, costs.cost_complete, costs.unpriced_models) == (1.0, False, ("x",))


def test_a_total_alone_counts_at_the_lowest_rate() -> None:
    costs = cost_of(response(total=100_000))

    assert (costs.cost, costs.cost_complete) == (1.0, False)


def test_where_no_price_is_known_only_the_documented_fields_are_told() -> None:
    told = cost_of(response(None, input_tokens=5, output_tokens=5)).to_dict()

    assert list(told) == ["total_tokens", "token_waste", "duplicate_calls", "redundancy_score", "cost_efficiency"]


def test_the_recorded_profile_tells_no_money() -> None:
    events = session_of(response(input_tokens=100_000, output_tokens=0))

    assert diagnose(events, profile=Profile.CRITIQOR_V1).cost_analysis.cost is None


def test_what_failures_went_into_is_waste_and_the_first_call_was_needed() -> None:
    asked = response(input_tokens=100_000, output_tokens=0)
    loop = [event for pair in [answered("none")] * 4 for event in (asked, *pair)]

    costs = cost_of(*loop)

    assert costs.cost == pytest.approx(4)
    assert costs.waste_by_cause is not None
    assert costs.waste_by_cause["infinite_tool_loop"] == pytest.approx(3)
    assert costs.wasted_cost == pytest.approx(3)


def test_a_model_call_that_asked_for_several_is_shared() -> None:
    asked = response(input_tokens=100_000, output_tokens=0)
    rounds = [(asked, *answered("none"), call("other", {"n": n}), output("fine", "other")) for n in range(3)]

    costs = cost_of(*(event for events in rounds for event in events))

    assert costs.waste_by_cause is not None
    assert costs.waste_by_cause["infinite_tool_loop"] == pytest.approx(1)


def test_a_clean_run_wastes_nothing() -> None:
    costs = cost_of(response(input_tokens=100_000, output_tokens=0), *answered("none"))

    assert (costs.wasted_cost, costs.waste_by_cause) == (0, {})


def test_a_budget_of_money_is_watched() -> None:
    session = session_of(response(input_tokens=100_000, output_tokens=0))
    causes = [
        diagnose(session, options=Options(prices=PRICES, money_budget=budget)).failure_causes for budget in (0.9, 1.1)
    ]

    assert [[cause.type for cause in found if cause.type == "cost_explosion"] for found in causes] == [
        ["cost_explosion"],
        [],
    ]
    assert "1.0000 instead of 0.9000 USD" in causes[0][0].description


@pytest.mark.parametrize(
    ("one", "other", "duplicates"),
    [
        ({"tool": 0}, {}, 1),
        ({"tool": False, "name": "search"}, {"tool": "search"}, 1),
        ({"skill": ["a"]}, {}, 0),
        ({"tool": {"a": 1}}, {"tool": {"a": 2}}, 0),
        ({"tool": 1}, {"tool": "1"}, 1),
    ],
)
def test_the_recorded_profile_names_a_call_by_what_is_not_empty(one: Raw, other: Raw, duplicates: int) -> None:
    session = session_of(*({"event": "tool_call", **fields} for fields in (one, other)))

    assert diagnose(session, profile=Profile.CRITIQOR_V1).cost_analysis.duplicate_calls == duplicates
