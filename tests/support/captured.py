"""The captured traces: which there are, and the sessions they become."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from command import CAPTURES

from analyzer.session.model import Session
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths

__all__ = ["CAPTURES", "FAMILIES", "SCENARIOS", "facts_told", "files_of", "sessions_of"]

SCENARIOS = sorted(
    path.relative_to(CAPTURES).as_posix().removesuffix(".facts.json")
    for path in CAPTURES.glob("*/*.facts.json")
    if path.parent.name != "_formats"
)
"""`folder/scenario` of each capture."""

FAMILIES = sorted({scenario.partition("/")[0] for scenario in SCENARIOS})
"""The folders: a library in one of its settings."""


def files_of(scenario: str, encoding: str = "jsonl") -> list[Path]:
    """Return the files of a capture: spans, and log records where there are any."""
    paths = [CAPTURES / f"{scenario}{kind}.otlp.{encoding}" for kind in ("", ".logs")]
    return [path for path in paths if path.exists() and path.stat().st_size]


@cache
def sessions_of(scenario: str) -> tuple[Session, ...]:
    """Return the sessions of a capture."""
    return tuple(runs_of(gather(read_paths([str(path) for path in files_of(scenario)]))).sessions)


def facts_told(scenario: str) -> dict[str, Any]:
    """Return what the script behind a capture made true."""
    return dict(json.loads((CAPTURES / f"{scenario}.facts.json").read_bytes()))
