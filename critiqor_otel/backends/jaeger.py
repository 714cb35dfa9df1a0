"""The traces of a Jaeger, by the HTTP API that its page uses.

Source: https://www.jaegertracing.io/docs/1.76/architecture/apis/#internal-http-json. Traces are asked for raw: adjusted
ones are without copies and may be moved in time.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from critiqor_otel.backends.address import Address, Window
from critiqor_otel.backends.asking import Backend, NotThereError
from critiqor_otel.backends.windows import searched
from critiqor_otel.errors import UnreadableInputError

__all__ = ["KEYS", "PORT", "documents"]

KEYS = ("service", "operation", "tags", "minDuration", "maxDuration", "trace")
PORT = 16686

_FINEST_NS = 1_000_000
_FILTERS = ("operation", "tags", "minDuration", "maxDuration")
_SHOWN_SERVICES = 10


class _Answer(msgspec.Struct):
    data: list[msgspec.Raw] | None = None
    errors: Any = None


class _Named(msgspec.Struct):
    traceID: str = ""  # noqa: N815  # Jaeger's spelling


def documents(address: Address, now_ns: Callable[[], int]) -> Iterator[bytes]:
    """Yield documents of Jaeger's JSON that hold the traces asked for, each trace once.

    Raises:
        UnreadableInputError: it can't be asked, or keeps no such trace.
    """
    backend = Backend(address)
    named = address.asked.get("trace", ())
    seen: set[str] = set()
    for traces in _named(backend, address, named) if named else _found(backend, address, now_ns()):
        fresh = {name: trace for trace in traces if (name := _name(trace)) not in seen}
        seen.update(fresh)
        if fresh:
            yield b'{"data":[' + b",".join(map(bytes, fresh.values())) + b"]}"
    if not seen:
        raise UnreadableInputError(f"{address.shown}: {_nothing(backend, address)}")


def _named(backend: Backend, address: Address, trace_ids: tuple[str, ...]) -> Iterator[list[msgspec.Raw]]:
    for trace_id in trace_ids:
        try:
            yield _traces(backend.get(f"/api/traces/{trace_id}", {"raw": "true"}), address)
        except NotThereError as error:
            raise UnreadableInputError(f"{address.shown}: no trace {trace_id} is kept") from error


def _found(backend: Backend, address: Address, now_ns: int) -> Iterator[list[msgspec.Raw]]:
    filters = {key: value for key in _FILTERS if (value := address.one(key)) is not None}
    window = address.window(now_ns)
    for service in address.asked.get("service") or _services(backend, address):

        def search(part: Window, most: int, service: str = service) -> list[msgspec.Raw]:
            query: dict[str, str | int] = {"service": service, **filters, "limit": most, "raw": "true"}
            query |= {"start": part.start_ns // 1000, "end": -(-part.end_ns // 1000)}
            return _traces(backend.get("/api/traces", query), address)

        for traces, _ in searched(window, search, finest_ns=_FINEST_NS):
            yield traces


def _services(backend: Backend, address: Address) -> list[str]:
    try:
        return sorted(msgspec.convert(_data(backend.get("/api/services"), address), list[str]))
    except (msgspec.ValidationError, NotThereError) as error:
        raise UnreadableInputError(f"{address.shown}: this is not the query port of a Jaeger") from error


def _nothing(backend: Backend, address: Address) -> str:
    asked = address.asked.get("service", ())
    known = _services(backend, address)
    shown = ", ".join(known[:_SHOWN_SERVICES]) or "none"
    if not asked:
        return f"no traces are kept in the time asked for; services: {shown}"
    return f"no traces of {', '.join(asked)} are kept in the time asked for; services that are known: {shown}"


def _traces(body: bytes, address: Address) -> list[msgspec.Raw]:
    answer = _answer(body, address)
    if answer.errors and not answer.data:
        raise UnreadableInputError(f"{address.shown}: it answers with an error: {answer.errors}")
    return answer.data or []


def _data(body: bytes, address: Address) -> list[Any]:
    return [msgspec.json.decode(value) for value in _answer(body, address).data or ()]


def _answer(body: bytes, address: Address) -> _Answer:
    try:
        return msgspec.json.decode(body, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableInputError(
            f"{address.shown}: what answers there is not the API of a Jaeger (port {PORT})"
        ) from error


def _name(trace: msgspec.Raw) -> str:
    try:
        return msgspec.json.decode(trace, type=_Named).traceID
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
