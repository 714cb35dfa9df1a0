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

    Linear in the messages: a conversation is known by the running digest of its messages.
    """
    waiting: dict[tuple[str, bytes], list[Unit]] = {}
    for unit in units:
        calls = [node for node in unit.nodes if node.role is SpanRole.MODEL]
        if not calls:
            continue
        origin = unit.origin[0]
        for digest in reversed(_digests(_messages(calls[0], Field.INPUT_MESSAGES))):
            candidates = waiting.get((origin, digest))
            if candidates:
                yield candidates.pop(), unit
                break
        answered = _messages(calls[-1], Field.OUTPUT_MESSAGES)
        if answered:
            whole = _digests([*_messages(calls[-1], Field.INPUT_MESSAGES), *answered])
            waiting.setdefault((origin, whole[-1]), []).append(unit)


def _messages(node: Node, field: Field) -> list[Message]:
    return node.facts.get(field) or []


def _digests(messages: list[Message]) -> list[bytes]:
    """Return the digest of each prefix, the shortest first."""
    running = hashlib.blake2b(digest_size=16)
    digests: list[bytes] = []
    for message in messages:
        running.update(_canonical(message))
        digests.append(running.digest())
    return digests


def _canonical(message: Message) -> bytes:
    """Return what makes two tellings of a message the same: role, text, and what was asked for and given back."""
    told = (
        message.role,
        message.text or None,
        [(request.id, request.name, request.arguments) for request in message.tool_requests],
        [(response.id, response.result) for response in message.tool_responses],
    )
    return msgspec.json.encode(told, order="sorted", enc_hook=repr)
