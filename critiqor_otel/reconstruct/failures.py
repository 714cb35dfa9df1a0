"""Which spans failed, and where a failure began.

A status is not the whole truth: a family's own word and an exit code count as well, and a parent that only repeats its
child's error did not fail by itself.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.node import Failure, Node
from critiqor_otel.span import SpanEvent, StatusCode

__all__ = ["first_failures", "settle_failures"]


def settle_failures(nodes: Iterable[Node]) -> None:
    """Tell each node the failure that its span tells of itself, if any."""
    for node in nodes:
        node.failure = _failure_of(node)


def _failure_of(node: Node) -> Failure | None:
    span = node.span
    if span.status is not _ERROR and not span.events and node.facts.lacks(_VERDICTS):
        return None
    exit_code = node.facts.get(Field.EXIT_CODE)
    exception = _exception(node)
    said = node.facts.get(Field.FAILED)
    failed = span.status is _ERROR or bool(said) or exit_code not in (None, 0)
    if not failed and (exception is None or said is False or span.status is StatusCode.OK):
        return None
    if not failed and node.role is SpanRole.TOOL:
        return None  # recorded and handled inside the tool
    error_type = node.facts.get(Field.ERROR_TYPE) or _text(exception, "exception.type")
    message = (
        node.facts.get(Field.ERROR_MESSAGE)
        or _text(exception, "exception.message")
        or _beyond_type(span.status_message, error_type)
        or (f"exit code {exit_code}" if exit_code not in (None, 0) else None)
    )
    return Failure(error_type, message)


_ERROR = StatusCode.ERROR
_VERDICTS = frozenset({Field.FAILED, Field.EXIT_CODE})
"""Words on success beside the span's status and its exceptions."""


def _beyond_type(message: str, error_type: str | None) -> str | None:
    """Return a status's words, or None where they only name the type: `ToolRetryError: ` of an error without any."""
    named = message.rstrip(": ")
    return (
        None
        if not named or (error_type is not None and named in (error_type, error_type.rpartition(".")[2]))
        else message
    )


def _exception(node: Node) -> SpanEvent | None:
    return next((event for event in reversed(node.span.events) if event.name == "exception"), None)


def _text(event: SpanEvent | None, key: str) -> str | None:
    value = event.attributes.get(key) if event is not None else None
    return value if isinstance(value, str) and value else None


_HEALTH = SpanRole.HEALTH


def first_failures(nodes: Sequence[Node]) -> dict[int, Failure]:
    """Map the id() of each node at which a failure began to that failure; the nodes come parents first.

    A failure that repeats what a span below it said already began there.
    """
    below: dict[int, _Heard] = {}
    began: dict[int, Failure] = {}
    for node in reversed(nodes):
        failure = None if node.role is _HEALTH else node.failure  # the host's errors are not the run's
        if failure is None and not below:
            continue
        heard = below.pop(id(node), {})
        if failure is not None:
            if not _is_echo(failure, heard):
                began[id(node)] = failure
            heard = {failure: None, **dict.fromkeys(islice(heard, _REMEMBERED))}
        if node.parent is not None and heard:
            _pour(heard, below, id(node.parent))
    return began


_Heard = dict[Failure, None]
"""The failures below a span, in a fixed order."""

_REMEMBERED = 64
"""How many failures below it a failed span hands on: with all of them, a deep chain of failures costs its square."""


def _pour(heard: _Heard, below: dict[int, _Heard], parent: int) -> None:
    """Add a child's failures to its parent's, the smaller number to the larger."""
    other = below.get(parent)
    if other is None:
        below[parent] = heard
    elif len(other) >= len(heard):
        other |= heard
    else:
        heard |= other
        below[parent] = heard


def _is_echo(failure: Failure, heard: _Heard) -> bool:
    if failure in heard:
        return True
    if failure.message is None:
        return bool(heard)
    return any(
        other.message is not None and (other.message in failure.message or failure.message in other.message)
        for other in heard
    )
