"""What a run cost, in rows of a table: tokens, and money where prices are known."""

from collections.abc import Iterator

from analyzer.cost import CostAnalysis
from analyzer.report.html.titles import title_of

__all__ = ["amount", "costs_of"]

_UNKNOWN = "?"
_CENTS = 1.0  # from there on an amount is told to the cent
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
_TINY = 0.0001  # below it three digits would need an exponent


def costs_of(costs: CostAnalysis) -> Iterator[tuple[str, str]]:
    """Yield label and value of what is known of the cost, `?` for what the traces don't carry."""
    yield "Tokens in all", _count(costs.total_tokens)
    yield "Tokens wasted", _count(costs.token_waste)
    yield "Duplicate calls", _count(costs.duplicate_calls)
    yield "Redundancy", _percent(costs.redundancy_score)
    yield "Cost efficiency", _percent(costs.cost_efficiency)
    if costs.cost is not None:
        yield "Cost", f"{'' if costs.cost_complete else '≥ '}{amount(costs.cost, costs)}"
    if costs.wasted_cost:
        yield "Spent for nothing", amount(costs.wasted_cost, costs)
    for failure_type, wasted in sorted((costs.waste_by_cause or {}).items()):
        yield f"… by {title_of(failure_type).lower()}", amount(wasted, costs)
    if costs.cost is not None and costs.prices_as_of is not None:
        yield "Prices as of", costs.prices_as_of
    if costs.unpriced_models:
        yield "Price not known", ", ".join(costs.unpriced_models)


def amount(value: float | None, costs: CostAnalysis) -> str:
    """Return an amount of money with its currency: to the cent from one on, below it three digits that count."""
    if value is None:
        return _UNKNOWN
    sign = _SIGNS.get(costs.currency or "")
    return f"{sign}{_digits(value)}" if sign else f"{_digits(value)} {costs.currency or ''}".rstrip()


def _digits(value: float) -> str:
    if value >= _CENTS:
        return f"{value:,.2f}"
    return f"{value:.3g}" if value >= _TINY else f"{value:.6f}".rstrip("0").rstrip(".")


def _count(number: int | None) -> str:
    return _UNKNOWN if number is None else f"{number:,}"


def _percent(number: int | None) -> str:
    return _UNKNOWN if number is None else f"{number} %"
