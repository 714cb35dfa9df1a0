"""Captured traces taken apart, so that every span may lie in a file of its own."""

import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["scatter", "single_records"]

_LEVELS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}


def single_records(paths: Iterable[Path]) -> list[bytes]:
    """Return each span and each log record of OTLP JSON lines as a request of its own."""
    return [line for path in paths for text in path.read_bytes().splitlines() for line in _singles(json.loads(text))]


def _singles(request: dict[str, Any]) -> Iterator[bytes]:
    for top, (middle, bottom) in _LEVELS.items():
        for resource in request.get(top, ()):
            for scope in resource.get(middle, ()):
                for record in scope.get(bottom, ()):
                    one = {**resource, middle: [{**scope, bottom: [record]}]}
                    yield json.dumps({top: [one]}).encode()


def scatter(records: Iterable[bytes], folder: Path, *, files: int, seed: int) -> None:
    """Write the records in a random order into so many files."""
    chance = random.Random(seed)
    shuffled = list(records)
    chance.shuffle(shuffled)
    folder.mkdir(exist_ok=True)
    for number in range(files):
        (folder / f"part-{number:03d}.jsonl").write_bytes(b"".join(line + b"\n" for line in shuffled[number::files]))
