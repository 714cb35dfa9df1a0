"""What did the model calls of a run cost? As the trace reports it, else by a price list.

A call that reports no usage, or whose model the list does not know, makes the sum a lower bound. A total that is not
told apart into input and output counts at the lowest rate.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from analyzer.models.prices import Consumed, Price, PriceList, known_prices, price_of
from analyzer.session.accessors import payload_of
from analyzer.session.model import Event
from analyzer.session.shapes import is_number
from analyzer.timeline.index import Timeline
from analyzer.timeline.model_calls import REPORT, ModelCall
from analyzer.timeline.tokens import Usage, usage_of

__all__ = ["Bill", "bill_of"]

_REPORTED = "cost_usd"
_REPORTED_CURRENCY = "USD"


class Bill(Struct, frozen=True, kw_only=True):
    """What a run's model calls cost."""

    amount: float | None = None
    """None where nothing is known of any call."""
    complete: bool = False
    """False: some call's cost is not known, and the amount is a lower bound."""
    currency: str
    as_of: str
    """The day of the price list, ISO."""
    unpriced: tuple[str, ...] = ()
    """Models that the list does not know, sorted."""
    by_position: dict[int, float] = field(default_factory=dict[int, float])
    """The cost of each model call that is known, by the position of its first event that tells of it."""


def bill_of(timeline: Timeline, prices: PriceList | None = None) -> Bill:
    """Return what a run cost by a price list, the built-in one where none is given; linear in the model calls."""
    clerk = _Clerk(prices or known_prices())
    for call in timeline.model_calls:
        clerk.call(call, timeline)
    for event in timeline.by_kind.get("token_usage", ()):
        if event.event_type == REPORT:
            clerk.report(event)
    return clerk.bill(complete=timeline.tokens.complete)


class _Clerk:
    """Adds up."""

    def __init__(self, prices: PriceList) -> None:
        self._prices = prices
        self._by_model: dict[str, Price | None] = {}
        self._known: dict[int, float] = {}
        self._reported: list[float] = []
        self._open = False

    def call(self, call: ModelCall, timeline: Timeline) -> None:
        """Take a model call."""
        cost = self._cost((call.response, call.request), call.usage)
        first = call.request_id if call.response_id is None else call.response_id
        if cost is None:
            self._open = True
        elif first is not None:
            self._known[timeline.position_of[first]] = cost

    def report(self, event: Event) -> None:
        """Take tokens that no visible call accounts for."""
        cost = self._cost((payload_of(event),), usage_of(event))
        if cost is None:
            self._open = True
        else:
            self._reported.append(cost)

    def bill(self, *, complete: bool) -> Bill:
        """Return the sum."""
        costs = [*self._known.values(), *self._reported]
        return Bill(
            amount=sum(costs) if costs else None,
            complete=complete and bool(costs) and not self._open,
            currency=self._prices.currency,
            as_of=self._prices.as_of,
            unpriced=tuple(sorted(model for model, price in self._by_model.items() if price is None)),
            by_position=self._known,
        )

    def _cost(self, payloads: Sequence[dict[str, Any]], usage: Usage | None) -> float | None:
        if self._prices.currency == _REPORTED_CURRENCY:
            for payload in payloads:
                cost = payload.get(_REPORTED)
                if cost is not None and is_number(cost) and cost > 0:
                    return float(cost)
        model = _model_of(payloads)
        if usage is None or model is None:
            return None
        if model not in self._by_model:
            self._by_model[model] = price_of(model, self._prices)
        price = self._by_model[model]
        return None if price is None else self._priced(price, usage)

    def _priced(self, price: Price, usage: Usage) -> float | None:
        if usage.input is None and usage.output is None:
            if usage.total is None:
                return None
            self._open = True
            return min(price.of(Consumed(input=usage.total)), price.of(Consumed(output=usage.total)))
        return price.of(
            Consumed(
                input=usage.input or 0,
                cached_input=usage.cached_input or 0,
                cache_write=usage.cache_write or 0,
                output=usage.output or 0,
            )
        )


def _model_of(payloads: Sequence[dict[str, Any]]) -> str | None:
    for payload in payloads:
        model = payload.get("model")
        if isinstance(model, str):
            return model
    return None
