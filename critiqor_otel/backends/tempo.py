"""The traces of a Tempo, found by its search and fetched one by one as OTLP.

Source: https://grafana.com/docs/tempo/latest/api_docs/ (search, query by trace id).
"""

from collections.abc import Callable, Iterator

import msgspec

from critiqor_otel.backends.address import Address, Window
from critiqor_otel.backends.asking import Backend, NotThereError
from critiqor_otel.backends.windows import searched
from critiqor_otel.errors import UnreadableInputError

__all__ = ["KEYS", "PORT", "documents"]

KEYS = ("service", "q", "org", "trace")
PORT = 3200

_SECOND = 1_000_000_000


class _Hit(msgspec.Struct):
    traceID: str  # noqa: N815  # Tempo's spelling


class _Hits(msgspec.Struct):
    traces: list[_Hit] = []


class _Wrapped(msgspec.Struct):
    trace: msgspec.Raw


def documents(address: Address, now_ns: Callable[[], int]) -> Iterator[bytes]:
    """Yield the OTLP/JSON of each trace asked for.

    Raises:
        UnreadableInputError: it can't be asked, or keeps no such trace.
    """
    tenant = address.one("org")
    backend = Backend(address, None if tenant is None else {"x-scope-orgid": tenant})
    named = address.asked.get("trace", ())
    seen: set[str] = set()
    for trace_id in named or _found(backend, address, now_ns()):
        if trace_id not in seen:
            seen.add(trace_id)
            yield _trace(backend, address, trace_id)
    if not seen:
        raise UnreadableInputError(f"{address.shown}: no trace that answers is kept in the time asked for")


def _found(backend: Backend, address: Address, now_ns: int) -> Iterator[str]:
    query = _query(address)

    def search(part: Window, most: int) -> list[_Hit]:
        span = {"start": part.start_ns // _SECOND, "end": -(-part.end_ns // _SECOND), "limit": most}
        body = backend.get("/api/search", {"q": query, **span})
        try:
            return msgspec.json.decode(body, type=_Hits).traces
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UnreadableInputError(
                f"{address.shown}: what answers there is not the API of a Tempo (port {PORT})"
            ) from error

    for hits, _ in searched(address.window(now_ns), search, finest_ns=2 * _SECOND):
        yield from (hit.traceID for hit in hits)


def _query(address: Address) -> str:
    given = address.one("q")
    if given is not None:
        return given
    named = address.asked.get("service", ())
    tests = (f"resource.service.name = {msgspec.json.encode(name).decode()}" for name in named)
    return f"{{ {' || '.join(tests)} }}"


def _trace(backend: Backend, address: Address, trace_id: str) -> bytes:
    """Return a trace by the first of the two forms of the API that has it."""
    try:
        return backend.get(f"/api/traces/{trace_id}")
    except NotThereError:
        pass
    try:
        body = backend.get(f"/api/v2/traces/{trace_id}")
    except NotThereError as error:
        raise UnreadableInputError(f"{address.shown}: no trace {trace_id} is kept") from error
    try:
        return bytes(msgspec.json.decode(body, type=_Wrapped).trace)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body
