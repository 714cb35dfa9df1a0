"""What a reduce task leaves: one frame a run, in order of run id, so that parts merge into one order by reading on."""

import heapq
import struct
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from critiqor_otel.engine.store import Store

__all__ = ["Frame", "key_of", "merged", "read_frames", "write_frames"]

_LENGTHS = struct.Struct("<II")


class Frame(NamedTuple):
    """One run."""

    key: bytes
    content: bytes


def key_of(run_id: str) -> bytes:
    """Return what orders runs as their ids do."""
    return run_id.encode("utf-8", "surrogatepass")


def write_frames(frames: Iterable[Frame], file: IO[bytes]) -> None:
    """Write frames, which are in order of their keys."""
    for frame in frames:
        file.write(_LENGTHS.pack(len(frame.key), len(frame.content)) + frame.key + frame.content)


def read_frames(name: str, store: Store) -> Iterator[Frame]:
    """Yield the frames of a file."""
    with store.open(name) as file:
        while head := file.read(_LENGTHS.size):
            key, content = _LENGTHS.unpack(head)
            yield Frame(file.read(key), file.read(content))


def merged(names: Iterable[str], store: Store) -> Iterator[Frame]:
    """Yield the frames of several files in one order; frames of one key are in one file, and keep its order."""
    yield from heapq.merge(*(read_frames(name, store) for name in names), key=lambda frame: frame.key)
