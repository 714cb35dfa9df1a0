"""Files that a user writes or keeps, spoiled: sessions, baselines, policies, settings, prices, suites.

Each `fault_of_…` reads one, and tells what is wrong with how it was taken; None when it was read or refused in words.
"""

import json
import random
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml
from small_inputs import SMALL, misfitted, mutated

from analyzer.baseline import read_baseline, written_baseline
from analyzer.diagnosis import diagnose
from analyzer.errors import BaselineError, SessionFileError
from analyzer.evaluation import check_policy
from analyzer.session.codec import read_session, write_session
from critiqor_otel.cli.configuration import read_options, read_prices
from critiqor_otel.cli.policy_file import read_policy
from critiqor_otel.cli.side import Side
from critiqor_otel.cli.suite import read_suite

__all__ = ["KINDS", "Kind", "faults_of"]


class Kind(NamedTuple):
    """One kind of file: sound examples by their endings, and what tries one."""

    examples: Mapping[str, bytes]
    attempt: Callable[[bytes, Path], str | None]


def faults_of(kind: str, chance: random.Random, folder: Path, count: int) -> Iterator[str]:
    """Spoil and read a kind of file so often, and yield what is wrong with how it was taken."""
    examples, attempt = KINDS[kind]
    endings = list(examples)
    for number in range(count):
        ending = chance.choice(endings)
        data = (mutated if number % 2 else misfitted)(examples[ending], chance)
        try:
            fault = attempt(data, folder / f"spoiled{ending}")
        except Exception:  # noqa: BLE001  # whatever it is, it is what we look for
            fault = traceback.format_exc(limit=-4)
        if fault is not None:
            yield f"{kind}, input {number}: {data!r:.600}\n{fault}"


def _session(data: bytes, _: Path) -> str | None:
    try:
        session = read_session(data)
    except SessionFileError as error:
        return _unsaid(error)
    written = write_session(session)
    if write_session(read_session(written)) != written:
        return "what was written is read as something else"
    diagnose(session)
    return None


def _baseline(data: bytes, _: Path) -> str | None:
    try:
        baseline = read_baseline(data)
    except BaselineError as error:
        return _unsaid(error)
    return None if read_baseline(written_baseline(baseline)) == baseline else "what was written is read otherwise"


def _policy(data: bytes, path: Path) -> str | None:
    path.write_bytes(data)
    with redirect_stderr(StringIO()):  # what names no rule is told there
        check_policy(_EVALUATION, read_policy(str(path), side=Side(quiet=True)))
    return None


def _settings(data: bytes, path: Path) -> str | None:
    path.write_bytes(data)
    read_options(str(path))
    return None


def _prices(data: bytes, path: Path) -> str | None:
    path.write_bytes(data)
    read_prices(path)
    return None


def _suite(data: bytes, path: Path) -> str | None:
    path.write_bytes(data)
    read_suite(str(path))
    return None


def _refusable(attempt: Callable[[bytes, Path], str | None]) -> Callable[[bytes, Path], str | None]:
    """Return the attempt, to which the command's own word of refusal is no fault."""

    def tried(data: bytes, path: Path) -> str | None:
        try:
            return attempt(data, path)
        except click.UsageError as error:
            return _unsaid(error)

    return tried


def _unsaid(error: Exception) -> str | None:
    return None if str(error).strip() else "it is refused without a word"


def _toml(table: Mapping[str, Any]) -> bytes:
    """Return a table as TOML; strings and numbers are spelled as in JSON."""
    lines: list[str] = []
    waiting: list[tuple[str, Mapping[str, Any]]] = [("", table)]
    for name, inner in waiting:
        if name:
            lines.append(f"[{name}]")
        for key, value in inner.items():
            if isinstance(value, Mapping):
                waiting.append((f"{name}.{json.dumps(key)}" if name else json.dumps(key), value))
            else:
                lines.append(f"{json.dumps(key)} = {json.dumps(value)}")
    return "\n".join(lines).encode()


def _in_three(table: Mapping[str, Any]) -> dict[str, bytes]:
    return {
        ".json": json.dumps(table).encode(),
        ".yaml": yaml.safe_dump(table).encode(),
        ".toml": _toml(table),
    }


_EVALUATION = {
    "trust_score": 90,
    "evaluation_confidence": 90,
    "scores": {"hallucination": 90, "tool_reliability": 85},
    "failure_causes": [{"type": "retry_storm", "severity": "high"}],
}
_POLICY = {
    "minimum_trust_score": 90,
    "maximum_hallucination_risk": 5,
    "minimum_tool_reliability": "80.5",
    "minimum_evaluation_confidence": 80,
    "block_high_severity_failures": False,
}
_RATES = {"input": 1.5, "output": 3, "cached_input": 0.5, "long": {"above": 200_000, "input": 3, "output": 6}}
_PRICES = {"as_of": "2026-11-30", "currency": "USD", "models": {"gpt-4o*": _RATES, "local": {"input": 0, "output": 0}}}
_SETTINGS = {
    "off": ["retry_storm"],
    "polling_tools": ["wait_*"],
    "token_budget": 5000,
    "money_budget": 0.5,
    "loop_calls": 4,
    "saturation": 80,
    "windows": {"local": 8192},
    "policy": _POLICY,
    "prices": _PRICES,
}
_BASELINE = {
    "schema_version": "critiqor.baseline.v1",
    "failures": [
        {
            "fingerprint": "0123456789abcdef",
            "type": "infinite_tool_loop",
            "description": "search was called 5 times",
            "reason": "ticket 7",
            "added": "2026-11-30",
            "expires": "2027-01-31",
        }
    ],
}
_SUITE = {
    "name": "refunds",
    "agent": "clerk",
    "agent_type": "support",
    "command": ["true"],
    "prompts": ["pay it back", {"name": "two", "prompt": "don't"}],
    "timeout": 5,
    "repeat": 2,
}

KINDS: Mapping[str, Kind] = {
    "session": Kind({".json": SMALL["session"]}, _session),
    "baseline": Kind({".json": json.dumps(_BASELINE).encode()}, _baseline),
    "policy": Kind(_in_three({"policy": _POLICY}), _refusable(_policy)),
    "settings": Kind(_in_three({"tool": {"critiqor": _SETTINGS}}), _refusable(_settings)),
    "prices": Kind(_in_three(_PRICES), _refusable(_prices)),
    "suite": Kind(_in_three(_SUITE), _refusable(_suite)),
}
