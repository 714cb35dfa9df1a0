"""Captured traces taken apart, so that every span may lie in a file of its own."""

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["copies", "scatter", "single_records"]

_NAMES = re.compile(rb"(?<=\"traceId\": \")[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

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


def copies(records: Iterable[bytes], count: int) -> Iterator[bytes]:
    """Yield the records so many times, each time in traces and conversations of their own."""
    found = list(records)
    for number in range(count):
        for line in found:
            yield _NAMES.sub(partial(_renamed, number), line)


def _renamed(number: int, match: re.Match[bytes]) -> bytes:
    return hashlib.blake2b(b"%d %s" % (number, match[0]), digest_size=16).hexdigest().encode()
