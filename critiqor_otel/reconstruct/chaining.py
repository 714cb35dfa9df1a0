"""Model calls that follow each other, told from their messages alone.

A loop written by hand leaves a trace a model call and no id that joins them. But each call sends the whole
conversation again: where an earlier call's input plus its own answer begins a later call's input, the later one
carries it on.
"""

import hashlib
from collections.abc import Iterable, Iterator

import msgspec

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.messages import Message
from critiqor_otel.reconstruct.clusters import Chain
from critiqor_otel.reconstruct.node import Node, Trace
from critiqor_otel.reconstruct.unit import Unit, units_of

__all__ = ["chain_calls", "chain_of"]


def chain_calls(units: Iterable[Unit]) -> Iterator[tuple[Unit, Unit]]:
    """Yield (earlier, later) for units whose calls carry each other on; each has one successor, the nearest in time.

    Linear in the messages: a conversation is known by the running digest of its messages. Where an answer leaves out
    the ids of its tool calls (LiteLLM), which the next request names, it is known by its digest without ids.
    """
    waiting: dict[bytes, list[Unit]] = {}
    nameless: dict[bytes, list[Unit]] = {}
    for unit in units:
        ends = _Ends(unit)
        earlier = _earlier(ends.asked(), waiting)
        if earlier is None and nameless:
            earlier = _earlier(ends.asked(ids=False), nameless)
        if earlier is not None:
            yield earlier, unit
        answered = ends.answered()
        if answered is not None:
            (waiting if ends.named else nameless).setdefault(answered, []).append(unit)


def chain_of(trace: Trace) -> Chain:
    """Return the conversations that a trace carries on, and those it may be carried on by."""
    asked: list[bytes] = []
    answered: list[bytes] = []
    for unit in units_of(trace, by_trace=False):
        ends = _Ends(unit)
        asked += (*ends.asked(), *ends.asked(ids=False))
        whole = ends.answered()
        answered += () if whole is None else (whole,)
    return Chain(trace.trace_id, tuple(asked), tuple(answered))


class _Ends:
    """What the first call of a unit was sent, and what the last one answered, as digests."""

    def __init__(self, unit: Unit) -> None:
        calls = [node for node in unit.nodes if node.role is SpanRole.MODEL and _speaks(node)]
        self._origin = unit.origin[0].encode("utf-8", "surrogatepass")
        self._asked = _messages(calls[0], Field.INPUT_MESSAGES) if calls else []
        self._sent = _messages(calls[-1], Field.INPUT_MESSAGES) if calls else []
        self._answered = _messages(calls[-1], Field.OUTPUT_MESSAGES) if calls else []
        self.named = all(request.id is not None for message in self._answered for request in message.tool_requests)
        """The answer gives each of its tool calls an id."""

    def asked(self, *, ids: bool = True) -> list[bytes]:
        """Return the digest of each prefix, the shortest first."""
        return _digests(self._origin, self._asked, ids=ids)

    def answered(self) -> bytes | None:
        """Return the digest of the whole conversation; None without an answer."""
        if not self._answered:
            return None
        return _digests(self._origin, [*self._sent, *self._answered], ids=self.named)[-1]


def _speaks(node: Node) -> bool:
    """Tell whether a model span holds messages: the client's own span inside an instrumentation's holds none."""
    return bool(_messages(node, Field.INPUT_MESSAGES) or _messages(node, Field.OUTPUT_MESSAGES))


def _earlier(digests: list[bytes], waiting: dict[bytes, list[Unit]]) -> Unit | None:
    """Return the unit whose conversation the longest prefix carries on; it waits no longer."""
    for digest in reversed(digests):
        candidates = waiting.get(digest)
        if candidates:
            return candidates.pop()
    return None


def _messages(node: Node, field: Field) -> list[Message]:
    return node.facts.get(field) or []


def _digests(origin: bytes, messages: list[Message], *, ids: bool) -> list[bytes]:
    """Return the digest of each prefix, the shortest first; conversations of two origins never meet."""
    running = hashlib.blake2b(origin + (b"\1" if ids else b"\0"), digest_size=16)
    digests: list[bytes] = []
    for message in messages:
        running.update(_canonical(message, ids=ids))
        digests.append(running.digest())
    return digests


def _canonical(message: Message, *, ids: bool) -> bytes:
    """Return what makes two tellings of a message the same: role, text, and what was asked for and given back."""
    told = (
        message.role,
        message.text or None,
        [(request.id if ids else None, request.name, request.arguments) for request in message.tool_requests],
        [(response.id if ids else None, response.result) for response in message.tool_responses],
    )
    try:
        return msgspec.json.encode(told, order="sorted", enc_hook=repr)
    except ValueError:  # half of a surrogate pair, which UTF-8 has no bytes for
        return repr(told).encode("utf-8", "backslashreplace")
