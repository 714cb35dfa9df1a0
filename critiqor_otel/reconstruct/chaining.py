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
from critiqor_otel.reconstruct.node import Node
from critiqor_otel.reconstruct.unit import Unit

__all__ = ["chain_calls"]


def chain_calls(units: Iterable[Unit]) -> Iterator[tuple[Unit, Unit]]:
    """Yield (earlier, later) for units whose calls carry each other on; each has one successor, the nearest in time.

    Linear in the messages: a conversation is known by the running digest of its messages. Where an answer leaves out
    the ids of its tool calls (LiteLLM), which the next request names, it is known by its digest without ids.
    """
    waiting: dict[tuple[str, bytes], list[Unit]] = {}
    nameless: dict[tuple[str, bytes], list[Unit]] = {}
    for unit in units:
        calls = [node for node in unit.nodes if node.role is SpanRole.MODEL and _speaks(node)]
        if not calls:
            continue
        origin = unit.origin[0]
        asked = _messages(calls[0], Field.INPUT_MESSAGES)
        earlier = _earlier(origin, _digests(asked), waiting)
        if earlier is None and nameless:
            earlier = _earlier(origin, _digests(asked, ids=False), nameless)
        if earlier is not None:
            yield earlier, unit
        answered = _messages(calls[-1], Field.OUTPUT_MESSAGES)
        if answered:
            named = all(request.id is not None for message in answered for request in message.tool_requests)
            whole = _digests([*_messages(calls[-1], Field.INPUT_MESSAGES), *answered], ids=named)
            (waiting if named else nameless).setdefault((origin, whole[-1]), []).append(unit)


def _speaks(node: Node) -> bool:
    """Tell whether a model span holds messages: the client's own span inside an instrumentation's holds none."""
    return bool(_messages(node, Field.INPUT_MESSAGES) or _messages(node, Field.OUTPUT_MESSAGES))


def _earlier(origin: str, digests: list[bytes], waiting: dict[tuple[str, bytes], list[Unit]]) -> Unit | None:
    """Return the unit whose conversation the longest prefix carries on; it waits no longer."""
    for digest in reversed(digests):
        candidates = waiting.get((origin, digest))
        if candidates:
            return candidates.pop()
    return None


def _messages(node: Node, field: Field) -> list[Message]:
    return node.facts.get(field) or []


def _digests(messages: list[Message], *, ids: bool = True) -> list[bytes]:
    """Return the digest of each prefix, the shortest first."""
    running = hashlib.blake2b(digest_size=16)
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
    return msgspec.json.encode(told, order="sorted", enc_hook=repr)
