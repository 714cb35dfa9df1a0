"""What may a user set about a diagnosis? One table of settings: the fields of `Options`.

Each field is a key of `[tool.critiqor]` (docs/configuration.md): its type is checked, and its description is the
page's text. Add a field, and it can be set, is checked and is described.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated

from msgspec import Meta, Struct

from analyzer.models.prices import PriceList

__all__ = ["Options", "names"]

_Count = Annotated[int, Meta(ge=1)]
_Amount = Annotated[float, Meta(gt=0)]
_Percent = Annotated[float, Meta(gt=0, le=100)]
_Loop = Annotated[int, Meta(ge=3, le=1_000)]  # more equal calls than that are a loop by any measure


def _described(text: str) -> Meta:
    return Meta(description=text)


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a user may set; the defaults are the documented numbers."""

    off: Annotated[tuple[str, ...], _described("Failure types that are not looked for.")] = ()

    polling_tools: Annotated[
        tuple[str, ...],
        _described("Tools that are meant to be called again with the same arguments; `*` stands for anything."),
    ] = ()
    side_effect_tools: Annotated[
        tuple[str, ...],
        _described("Tools that change something outside the agent, in addition to those whose names say so."),
    ] = ()

    token_budget: Annotated[_Count | None, _described("Tokens a run may consume; more alone is a cost explosion.")] = (
        None
    )
    money_budget: Annotated[
        _Amount | None, _described("What a run may cost, in the currency of the price list (US dollars).")
    ] = None
    step_budget: Annotated[_Count | None, _described("Model calls a run may take.")] = None
    seconds_budget: Annotated[_Amount | None, _described("Seconds a run may take.")] = None

    loop_calls: Annotated[_Loop, _described("Equal calls from which on a repetition is reported.")] = 3
    critical_loop_calls: Annotated[_Loop, _described("Equal calls from which on a loop is critical.")] = 5
    many_tokens: Annotated[_Count, _described("Tokens from which on work done twice is a cost explosion.")] = 12_000
    critical_tokens: Annotated[_Count, _described("Tokens from which on a cost explosion is critical.")] = 30_000
    saturation: Annotated[_Percent, _described("Percent of its window from which on a context is nearly full.")] = 85
    high_saturation: Annotated[_Percent, _described("Percent of its window from which on severity is high.")] = 95

    precedes: Annotated[
        bool, _described("Whether the causal graph ties each event to the next in time, besides what led to what.")
    ] = True

    windows: Annotated[
        Mapping[str, _Count],
        _described("Tokens that fit into a model's window, by name or pattern (`*`), over the built-in table."),
    ] = {}

    prices: Annotated[
        PriceList | None,
        _described(
            "A price list to use instead of the built-in one: the path of a TOML or JSON file, beside the file that "
            "names it, or the list itself."
        ),
    ] = None


def names(patterns: tuple[str, ...], name: str | None) -> bool:
    """Return whether a name is among patterns, in which `*` stands for anything."""
    return name is not None and any(fnmatchcase(name, pattern) for pattern in patterns)
