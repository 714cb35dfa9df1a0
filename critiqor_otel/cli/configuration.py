"""What did the user set? `critiqor.toml`, or `[tool.critiqor]` of pyproject.toml, the nearest from here upwards.

The settings are the fields of `analyzer.options.Options`; the table `policy` beside them belongs to `check`.
"""

import os
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec
from msgspec import Struct

from analyzer.detectors.registry import ALL
from analyzer.models.prices import LongRates, Price, PriceList
from analyzer.options import Options
from analyzer.pattern import pattern
from analyzer.session.shapes import is_list, is_object

__all__ = ["find_configuration", "read_options", "read_prices"]

_Told = TypeVar("_Told", bound=Struct)

_OWN_FILE: Final = "critiqor.toml"
_PROJECT_FILE: Final = "pyproject.toml"
_TABLE: Final = "tool.critiqor"
_OTHERS: Final = frozenset(("policy",))
# A table of ours, however it is spelled; what a text in quotes holds is found to be none by the parser.
_MAY_BE_OURS = pattern(r"""^[ \t\[]*["']?tool["']?\s*(?:\.\s*["']?critiqor\b|\]|=)""", re.MULTILINE)
_PLACE = pattern(r" - at `\$\.?([^`]*)`$")
_REMEDY: Final = "Change it, or take it out; docs/configuration.md tells of every setting."
_FAR: Final = 0.6  # how alike a key has to be to be meant


def read_options(given: str | None, *, start: Path | None = None) -> Options:
    """Return the settings of the file given, else of the nearest one from a folder (the working directory) upwards.

    Raises:
        click.UsageError: a file can't be read, or holds a key that is none or a value of the wrong type.
    """
    path = Path(given) if given is not None else find_configuration(start or Path.cwd())
    if path is None:
        return Options()
    settings = _read_settings(path)
    inner, table = _own_table(path, settings)
    return _options(path, table, inner)


def find_configuration(start: Path) -> Path | None:
    """Return the nearest file with settings: in a folder or above it, `critiqor.toml` before `pyproject.toml`."""
    folder = start.resolve()
    for place in (folder, *folder.parents):
        if os.path.isfile(place / _OWN_FILE):  # noqa: PTH113  # False where the folder may not be searched
            return place / _OWN_FILE
        if _mentions_us(place / _PROJECT_FILE):
            return place / _PROJECT_FILE
    return None


def read_prices(path: Path) -> PriceList:
    """Return the price list of a TOML, YAML or JSON file.

    Raises:
        click.UsageError: it can't be read, or is none.
    """
    return _prices(_read_settings(path), str(path), "")


def _read_settings(path: Path) -> Mapping[str, Any]:
    from critiqor_otel.cli.policy_file import read_settings  # noqa: PLC0415  # loads the evaluation: few have settings

    return read_settings(str(path))


def _mentions_us(path: Path) -> bool:
    """Return whether a project's file has settings of ours; one that nobody can read is somebody else's trouble."""
    try:
        text = path.read_text("utf-8")
        if _MAY_BE_OURS.search(text) is None:  # the parser takes as long to load as the command has for all
            return False
        document = import_module("tomllib").loads(text)
    except (OSError, ValueError):
        return False
    tool = document.get("tool")
    return is_object(tool) and is_object(tool.get("critiqor"))


def _own_table(path: Path, settings: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Return the settings, and the name of the table they stand in, with a dot; empty for the whole file."""
    tool = settings.get("tool")
    inner = tool.get("critiqor") if is_object(tool) else None
    if is_object(inner):
        return inner, f"{_TABLE}."
    if path.name == _PROJECT_FILE:
        raise click.UsageError(f"{path} has no table {_TABLE}")
    return settings, ""


def _options(path: Path, table: str, settings: Mapping[str, Any]) -> Options:
    told = {key: value for key, value in settings.items() if key not in _OTHERS}
    _check_keys(told, (*Options.__struct_fields__, *_OTHERS), f"{path}: {table}")
    _check_types(told.get("off"), f"{path}: {table}off")
    prices = told.get("prices")
    if isinstance(prices, str):
        told["prices"] = read_prices(path.parent / prices)
    elif is_object(prices):
        told["prices"] = _prices(prices, str(path), f"{table}prices.")
    return _converted(told, Options, str(path), table)


def _check_types(named: Any, place: str) -> None:
    known = {detector.failure_type for detector in ALL}
    for name in map(str, named if is_list(named) else ()):
        if name not in known:
            raise click.UsageError(f"{place} names {name!r}, which is no failure type{_meant(name, known)}")


def _prices(settings: Mapping[str, Any], path: str, table: str) -> PriceList:
    _check_keys(settings, PriceList.__struct_fields__, f"{path}: {table}")
    models = settings.get("models")
    for model, price in models.items() if is_object(models) else ():
        place = f"{path}: {table}models.{model}."
        if is_object(price):
            _check_keys(price, Price.__struct_fields__, place)
            long = price.get("long")
            _check_keys(long if is_object(long) else {}, LongRates.__struct_fields__, f"{place}long.")
    return _converted({**settings, "as_of": str(settings.get("as_of", ""))}, PriceList, path, table)


def _check_keys(given: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    names = list(known)
    for key in given:
        if key not in names:
            raise click.UsageError(f"{place}{key} is no setting{_meant(key, names)}")


def _meant(word: str, known: Iterable[str]) -> str:
    near = import_module("difflib").get_close_matches(word.lower(), sorted(known), n=1, cutoff=_FAR)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(sorted(known))}"


def _converted(settings: Mapping[str, Any], to: type[_Told], path: str, table: str) -> _Told:
    try:
        return msgspec.convert(settings, to)
    except UnicodeEncodeError as error:
        raise click.UsageError(f"{path}: half a character (a lone surrogate) stands in {table or 'it'}") from error
    except msgspec.ValidationError as error:
        found = _PLACE.search(str(error))
        faults = import_module("critiqor_otel.cli.setting_faults")  # with what it looks types up by
        told = faults.setting_fault(settings, to, found[1]) if found else None
        if told is not None:
            name, fault = told
            raise click.UsageError(f"{path}: {table}{name}: {fault}. {_REMEDY}") from error
        where = f"{table}{found[1]}" if found else table.rstrip(".")
        expected = _PLACE.sub("", str(error)).replace("`", "")
        raise click.UsageError(f"{path}: {where}: {expected[0].lower()}{expected[1:]}") from error
