"""How failures hang on their evidence, and the rules of critiqor 0.1.4."""

from collections.abc import Iterator
from itertools import pairwise

from analyzer.causality.scene import Link, Scene

__all__ = ["evidence", "in_time", "listed", "named", "pairs"]


def evidence(scene: Scene) -> Iterator[Link]:
    """Tie each piece of evidence to its failure."""
    for failure in scene.failures:
        for event_id in failure.cause.evidence:
            yield Link(event_id, failure.node, failure.cause.confidence)


def in_time(scene: Scene) -> Iterator[Link]:
    """Tie each piece of evidence to the next in time."""
    place = scene.timeline.position_of
    for failure in scene.failures:
        ids = sorted(set(failure.cause.evidence), key=place.__getitem__)
        yield from (Link(*pair) for pair in pairwise(ids))


def listed(scene: Scene) -> Iterator[Link]:
    """Follow the list; nothing follows an empty id (critiqor 0.1.4)."""
    for first, second in pairwise(scene.timeline.events):
        if first.event_id:
            yield Link(first.event_id, second.event_id)


def named(scene: Scene) -> Iterator[Link]:
    """Tie each piece of evidence that has an id to its failure (critiqor 0.1.4)."""
    return (link for link in evidence(scene) if link.source)


def pairs(scene: Scene) -> Iterator[Link]:
    """Tie each piece of evidence that has an id to the next one listed that has one (critiqor 0.1.4)."""
    named = (filter(None, failure.cause.evidence) for failure in scene.failures)
    return (Link(*pair) for ids in named for pair in pairwise(ids))
