"""A benchmark's suite as it is written down: prompts, and the command or the Python callable that answers them."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.evaluation.words import AGENT_TYPES, AgentType
from analyzer.lenient import as_number, as_optional_text, as_sequence, as_text, as_word, is_sequence
from analyzer.session.shapes import is_object
from critiqor_otel.cli.policy_file import read_settings

__all__ = ["Case", "Suite", "read_suite"]

_PROMPT = "{prompt}"
_MOST_REPEATS = 10_000  # a command is started for each: more is a slip of the pen
_KEYS = frozenset(("name", "agent", "agent_type", "prompts", "command", "callable", "timeout", "repeat"))


class Case(msgspec.Struct, frozen=True):
    """One prompt of a suite."""

    name: str
    words: tuple[str, ...]
    """The command that answers it."""


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run."""

    name: str
    agent: str
    """Whom the runs are counted for."""
    agent_type: AgentType
    cases: tuple[Case, ...]
    timeout: float | None
    """Seconds a case."""


def read_suite(path: str) -> Suite:
    """Return the suite of a TOML, YAML or JSON file.

    Raises:
        click.UsageError: it can't be read, or lacks its prompts or what answers them.
    """
    settings = read_settings(path)
    unknown = sorted(map(str, settings.keys() - _KEYS))  # a key in YAML may be a number
    if unknown:
        raise click.UsageError(
            f"{path}: there is no setting {', '.join(unknown)}; there are {', '.join(sorted(_KEYS))}"
        )
    words = _words(settings, path)
    repeats = _repeats(settings.get("repeat"), path)
    named = [_named(prompt, number) for number, prompt in enumerate(as_sequence(settings.get("prompts")), 1)]
    if not named or not all(prompt for _, prompt in named):
        raise click.UsageError(
            f"{path}: `prompts` is a list of texts, or of tables with a `prompt`; found none or odd ones"
        )
    name = as_text(settings.get("name", Path(path).stem))
    return Suite(
        name=name,
        agent=as_text(settings.get("agent") or name),
        agent_type=as_word(settings.get("agent_type"), AGENT_TYPES, "general"),
        cases=tuple(Case(name, _filled(words, prompt)) for name, prompt in named for _ in range(repeats)),
        timeout=as_number(settings.get("timeout")),
    )


def _repeats(told: Any, path: str) -> int:
    number = as_number(told) or 1
    if number > _MOST_REPEATS:
        raise click.UsageError(f"{path}: `repeat` is at most {_MOST_REPEATS}")
    return max(int(number), 1)


def _words(settings: Mapping[str, Any], path: str) -> tuple[str, ...]:
    command, name = settings.get("command"), settings.get("callable")
    if is_sequence(command) and command and name is None:
        return tuple(map(as_text, command))
    if isinstance(name, str) and all(name.partition(":")) and command is None:
        return (sys.executable, "-m", "critiqor_otel.cli.calling", name)
    raise click.UsageError(
        f'{path}: it takes a `command` (a list of words) or a `callable` ("module:name"), one of them'
    )


def _named(prompt: Any, number: int) -> tuple[str, str]:
    if is_object(prompt):
        return as_text(prompt.get("name", number)), as_optional_text(prompt.get("prompt")) or ""
    return str(number), prompt if isinstance(prompt, str) else ""


def _filled(words: Sequence[str], prompt: str) -> tuple[str, ...]:
    """Put the prompt where the command says `{prompt}`, or at its end."""
    if any(_PROMPT in word for word in words):
        return tuple(word.replace(_PROMPT, prompt) for word in words)
    return (*words, prompt)
