"""How full was the context of each agent, model call by model call, and was it cut?

What a call sends is what the one before it sent and more. A call that sends less than half opens another context: that
of a sub-agent, if the larger one is taken up again later; a new conversation, if it is as small as the first call was;
else what is left of the old one.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from analyzer.models.windows import window_of
from analyzer.timeline.index import Timeline

__all__ = ["Context", "Fill", "contexts_of"]

_HALF = 0.5
_FRESH = 1.1  # a context that is not larger than this share of its predecessor's first request keeps nothing of it


class Fill(Struct, frozen=True, kw_only=True):
    """What one model call sent."""

    position: int
    """Of the event that tells of it, the response's if there is one."""
    tokens: int
    """Of input, cached ones counted in."""
    window: int | None
    """Tokens that fit; None where nobody knows it, or where some call proves that it is larger."""

    @property
    def percent(self) -> float | None:
        """How full the window was."""
        return None if self.window is None else 100 * self.tokens / self.window


class Context(Struct, kw_only=True, eq=False):
    """Model calls of one agent that send what the one before sent, and more."""

    fills: list[Fill]
    cut_from: "Context | None" = None
    """The larger context that this one is what is left of."""


def contexts_of(timeline: Timeline, windows: Mapping[str, int], told: int | None = None) -> list[Context]:
    """Return the contexts of a run in order of their first call; `told` is a window that the run itself tells of."""
    tracks: dict[str | None, _Track] = {}
    for agent, fill in _fills(timeline, windows, told):
        track = tracks.get(agent)
        if track is None:
            track = tracks[agent] = _Track()
        track.add(fill)
    found = [context for track in tracks.values() for context in track.settled()]
    return sorted(found, key=lambda context: context.fills[0].position)


class _Track:
    """The contexts that calls under one agent's name belong to."""

    def __init__(self) -> None:
        self._open: list[Context] = []
        """Each smaller than half of the one before: few."""
        self._all: list[Context] = []

    def add(self, fill: Fill) -> None:
        """Take a model call: it goes on with the context that is nearest to it in size, or opens another."""
        place = self._nearest(fill.tokens)
        if place is None:
            context = Context(fills=[fill], cut_from=self._open[-1] if self._open else None)
            self._open.append(context)
            self._all.append(context)
            return
        for nested in self._open[place + 1 :]:
            nested.cut_from = None
        del self._open[place + 1 :]
        self._open[place].fills.append(fill)
        # One that has grown like the one before it has taken its place.
        while place and fill.tokens >= _HALF * self._open[place - 1].fills[-1].tokens:
            place -= 1
            del self._open[place]

    def _nearest(self, tokens: int) -> int | None:
        """Return the place of the open context that is nearest in size, those left out that are twice as large."""
        found, nearest = None, 0
        for place, one in enumerate(self._open):
            size = one.fills[-1].tokens
            distance = abs(size - tokens)
            if tokens >= _HALF * size and (found is None or distance < nearest):
                found, nearest = place, distance
        return found

    def settled(self) -> list[Context]:
        """Return the contexts, new conversations told apart from cut ones."""
        for context in self._all:
            before = context.cut_from
            if before is not None and context.fills[0].tokens <= _FRESH * before.fills[0].tokens:
                context.cut_from = None
        return self._all


def _fills(timeline: Timeline, windows: Mapping[str, int], told: int | None) -> Iterator[tuple[str | None, Fill]]:
    sent: list[tuple[str | None, str | None, int, int]] = []
    largest: dict[str | None, int] = {}
    position_of = timeline.position_of
    for call in timeline.model_calls:
        if call.usage is None or call.usage.input is None or call.response_id is None:
            continue
        position = position_of[call.response_id]
        model = _text(call.response.get("model")) or _text(call.request.get("model"))
        agent = _text(call.response.get("agent")) or _text(call.request.get("agent"))
        sent.append((agent, model, position, call.usage.input))
        largest[model] = max(largest.get(model, 0), call.usage.input)
    # A request that is larger than its window proves that the window is another.
    sizes = {model: told or window_of(model, windows) for model in largest}
    known = {model: size for model, size in sizes.items() if size is not None and largest[model] <= size}
    for agent, model, position, tokens in sent:
        yield agent, Fill(position=position, tokens=tokens, window=known.get(model))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
