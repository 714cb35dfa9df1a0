"""What do tokens cost? By a dated price list, the built-in one or a user's own."""

from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from analyzer.models.naming import entry_of

__all__ = ["Consumed", "LongRates", "Price", "PriceList", "Rates", "known_prices", "price_of"]

_MILLION = 1_000_000
_Rate = Annotated[float, Meta(ge=0)]


class Consumed(Struct, frozen=True, kw_only=True):
    """What one model call consumed, in tokens."""

    input: int = 0
    """All of it: what was read from a cache and written to one is counted in."""
    cached_input: int = 0
    cache_write: int = 0
    output: int = 0


class Rates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Money for a million tokens."""

    input: _Rate
    output: _Rate
    cached_input: _Rate | None = None
    cache_write: _Rate | None = None

    def cost(self, consumed: Consumed) -> float:
        """Return what these tokens cost."""
        cached = min(consumed.cached_input, consumed.input)
        written = min(consumed.cache_write, consumed.input - cached)
        fresh = consumed.input - cached - written
        cached_rate = self.input if self.cached_input is None else self.cached_input
        write_rate = self.input if self.cache_write is None else self.cache_write
        spent = fresh * self.input + cached * cached_rate + written * write_rate + consumed.output * self.output
        return spent / _MILLION


class LongRates(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rates of requests with a long input."""

    above: int
    """Tokens of input above which they hold."""


class Price(Rates, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model's tokens cost."""

    long: LongRates | None = None

    def of(self, consumed: Consumed) -> float:
        """Return what a call cost that consumed so many tokens."""
        rates = self if self.long is None or consumed.input <= self.long.above else self.long
        return rates.cost(consumed)


class PriceList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prices by model."""

    as_of: str
    """The day the prices were read, ISO."""
    currency: str = "USD"
    source: str = ""
    models: dict[str, Price]


@cache
def known_prices() -> PriceList:
    """Return the built-in list, `prices.json`; docs/configuration.md tells what its figures mean."""
    return msgspec.json.decode(Path(__file__).with_name("prices.json").read_bytes(), type=PriceList)


def price_of(model: str | None, prices: PriceList) -> Price | None:
    """Return what a model's tokens cost, or None where the list does not tell."""
    return None if model is None else entry_of(model, prices.models)
