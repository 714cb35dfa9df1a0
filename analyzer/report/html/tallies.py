"""How often each tool and each model was asked, how much time or how many tokens that took, how often it failed."""

from typing import NamedTuple

from analyzer.session.accessors import payload_of
from analyzer.session.model import EventKind
from analyzer.timeline.index import Timeline
from analyzer.timeline.tokens import usage_of

__all__ = ["ModelTally", "ToolTally", "duration_text", "models_of", "tools_of"]

_UNNAMED = "(unnamed)"
_HOUR, _MINUTE = 3600, 60


class ToolTally(NamedTuple):
    """What one tool was asked."""

    name: str
    calls: int
    failed: int
    time: str
    """Of all calls together, in words."""


class ModelTally(NamedTuple):
    """What one model was asked."""

    name: str
    calls: int
    failed: int
    tokens: int | None
    """None where no call reports any."""


def tools_of(timeline: Timeline) -> list[ToolTally]:
    """Return the tools, the one with most calls first, then by name."""
    counts: dict[str, list[int]] = {}
    for call in timeline.calls:
        row = counts.setdefault(call.tool or _UNNAMED, [0, 0, 0])
        row[0] += 1
        row[1] += call.status == "error"
        if call.start_ns is not None and call.end_ns is not None:
            row[2] += max(0, call.end_ns - call.start_ns)
    ordered = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    return [ToolTally(name, calls, failed, duration_text(ns / 1e9)) for name, (calls, failed, ns) in ordered]


def models_of(timeline: Timeline) -> list[ModelTally]:
    """Return the models that answered, the one with most calls first, then by name."""
    counts: dict[str, list[int]] = {}
    for event in timeline.of_kind(EventKind.TOKEN_USAGE):
        model = payload_of(event).get("model")
        row = counts.setdefault(model if isinstance(model, str) and model else _UNNAMED, [0, 0, 0, 0])
        usage = usage_of(event)
        row[0] += 1
        row[1] += event.status == "error"
        row[2] += 0 if usage is None else usage.total or 0
        row[3] += usage is not None
    ordered = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    return [
        ModelTally(name, calls, failed, tokens if known else None) for name, (calls, failed, tokens, known) in ordered
    ]


def duration_text(seconds: float | None) -> str:
    """Return a duration as people say it: `250 ms`, `2.50 s`, `3 min 5 s`, `1 h 4 min`; `?` where it is not known."""
    if seconds is None:
        return "?"
    if seconds >= _HOUR:
        return f"{int(seconds // _HOUR)} h {int(seconds % _HOUR // _MINUTE)} min"
    if seconds >= _MINUTE:
        return f"{int(seconds // _MINUTE)} min {int(seconds % _MINUTE)} s"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
