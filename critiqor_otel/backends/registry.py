"""Which back ends can be asked, by the scheme of an address."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from critiqor_otel.backends import jaeger, tempo
from critiqor_otel.backends.address import Address, parse_address

__all__ = ["ALL", "Kind", "documents_of"]


class Kind(NamedTuple):
    """A kind of back end."""

    port: int
    keys: tuple[str, ...]
    documents: Callable[[Address, Callable[[], int]], Iterator[bytes]]


ALL: Mapping[str, Kind] = {
    "jaeger": Kind(jaeger.PORT, jaeger.KEYS, jaeger.documents),
    "tempo": Kind(tempo.PORT, tempo.KEYS, tempo.documents),
}


def documents_of(text: str, now_ns: Callable[[], int]) -> Iterator[bytes]:
    """Return the documents that hold the traces an address asks for.

    Raises:
        UnreadableInputError: the address is not understood; from the documents, that the back end can't be asked.
    """
    ports = {name: kind.port for name, kind in ALL.items()}
    address = parse_address(text, ports, {name: kind.keys for name, kind in ALL.items()})
    return ALL[address.kind].documents(address, now_ns)
