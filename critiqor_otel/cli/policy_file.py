"""A policy as a team writes it down: TOML, YAML or JSON, told apart by the file's ending."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from analyzer.evaluation.policy import rule_names, unknown_rules
from analyzer.session.jsontext import read_json
from analyzer.session.shapes import is_object
from critiqor_otel.cli.meant import meant
from critiqor_otel.cli.side import Side

__all__ = ["read_policy", "read_settings"]


def read_policy(path: str, *, side: Side) -> Mapping[str, Any]:
    """Return the rules of a policy file: at its top, in a table `policy`, or in pyproject's `tool.critiqor.policy`.

    Keys that name no rule are told of, whatever else is silent.

    Raises:
        click.UsageError: the file can't be read, or holds no policy.
    """
    settings = read_settings(path)
    for place in (("tool", "critiqor", "policy"), ("policy",)):
        inner: Any = settings
        for key in place:
            inner = inner.get(key) if is_object(inner) else None
        if is_object(inner):
            settings = inner
            break
    for name in unknown_rules(settings):
        near = meant(name, rule_names())
        side.fail(f"{path}: there is no rule {name!r}; it changes nothing{f'; {near}' if near else ''}")
    return settings


def read_settings(path: str) -> dict[str, Any]:
    """Return what a TOML, YAML or JSON file holds.

    Raises:
        click.UsageError: it can't be read, or holds no table.
    """
    file = Path(path)
    read = _READERS.get(file.suffix.lower())
    if read is None:
        raise click.UsageError(f"{path}: expected a file that ends in {', '.join(_READERS)}")
    try:
        settings = read(file.read_bytes())
    except OSError as error:
        raise click.UsageError(f"{path} can't be read: {error.strerror}") from error
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise click.UsageError(f"{path} is no {file.suffix[1:].upper()}: {error}") from error
    if not is_object(settings):
        raise click.UsageError(f"{path} holds no table of settings but {type(settings).__name__}")
    return settings


def _toml(data: bytes) -> Any:
    return tomllib.loads(data.decode())


def _json(data: bytes) -> Any:
    return read_json(data)[0]


_READERS: Mapping[str, Callable[[bytes], Any]] = {
    ".toml": _toml,
    ".yaml": yaml.safe_load,
    ".yml": yaml.safe_load,
    ".json": _json,
}
