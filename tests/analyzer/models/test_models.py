"""What is known of models: prices and windows, found by any spelling of a name."""

import re
from datetime import date

import pytest

from analyzer.models.naming import entry_of
from analyzer.models.prices import Consumed, LongRates, Price, PriceList, known_prices, price_of
from analyzer.models.windows import known_windows, window_of


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("gpt-4o", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("azure/gpt-4.1", "gpt-4.1"),
        ("gpt-4-0613", "gpt-4"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-3-5-haiku@20241022", "claude-3-5-haiku"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("models/gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("mistral-large-latest", "mistral-large"),
    ],
)
def test_a_model_is_known_by_any_spelling(name: str, entry: str) -> None:
    assert price_of(name, known_prices()) == known_prices().models[entry]


@pytest.mark.parametrize("name", ["gpt-4o-audio", "gpt-9", "my-gpt-4o-tuned", "", "-", "claude", "gpt-5.2.1-x"])
def test_a_model_that_only_looks_like_one_is_not_known(name: str) -> None:
    assert price_of(name, known_prices()) is None


def test_a_pattern_means_all_that_fit_and_a_name_goes_before_it() -> None:
    table = {"house-*": 1, "house-7": 2}

    assert [entry_of(name, table) for name in ("House-3", "house-7", "mouse-7")] == [1, 2, None]


def test_a_windows_of_ones_own_goes_before_the_table() -> None:
    assert window_of("gpt-4o", {}) == 128_000
    assert window_of("gpt-4o", {"gpt-4o": 64_000}) == 64_000
    assert window_of("claude-sonnet-4-5[1m]", {}) == 1_000_000
    assert [window_of(None, {}), window_of("house-model", {})] == [None, None]


def test_the_tables_are_dated_and_name_their_sources() -> None:
    for table in (known_prices(), known_windows()):
        assert date.fromisoformat(table.as_of).year >= 2026
        assert "public" in table.source


def test_every_price_is_plausible() -> None:
    for name, price in known_prices().models.items():
        assert re.fullmatch(r"[a-z0-9.-]+", name)
        assert 0 < price.input <= price.output, name
        assert 0 < (price.cached_input or price.input) <= price.input, name
        assert price.long is None or price.long.input >= price.input


def test_cached_and_written_input_have_their_rates() -> None:
    price = Price(input=10, cached_input=1, cache_write=20, output=100)
    consumed = Consumed(input=1_000_000, cached_input=400_000, cache_write=100_000, output=10_000)

    assert price.of(consumed) == pytest.approx(5 + 0.4 + 2 + 1)


def test_without_rates_of_their_own_they_cost_what_others_do() -> None:
    price = Price(input=10, output=100)

    assert price.of(Consumed(input=1_000, cached_input=500, cache_write=500)) == pytest.approx(0.01)


def test_more_cached_than_there_is_costs_no_less_than_nothing() -> None:
    assert Price(input=10, cached_input=1, output=1).of(Consumed(input=10, cached_input=99, cache_write=99)) > 0


def test_long_requests_have_their_rates() -> None:
    price = Price(input=1, output=1, long=LongRates(above=100, input=2, output=2))

    assert price.of(Consumed(input=101)) == pytest.approx(2 * 101 / 1e6)
    assert price.of(Consumed(input=100)) == pytest.approx(100 / 1e6)


def test_a_list_of_ones_own_is_the_only_one() -> None:
    own = PriceList(as_of="2026-01-02", models={"house": Price(input=1, output=2)})

    assert price_of("house-2026-01-01", own) == own.models["house"]
    assert price_of("gpt-4o", own) is None
