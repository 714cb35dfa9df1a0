"""Does this look like an OTLP request in protobuf? Its layout is followed down to the first attributes."""

from collections.abc import Mapping

from msgspec import Struct, field

from critiqor_otel.decode.wire import LENGTH_DELIMITED, WireCutError, WireError, read_field

__all__ = ["looks_like_request"]


class _Layout(Struct, frozen=True):
    """What fields a message has: number to wire type and, where it is followed, its own layout."""

    fields: Mapping[int, tuple[int, "_Layout | None"]] = field(default_factory=dict[int, tuple[int, "_Layout | None"]])


_PART = (LENGTH_DELIMITED, None)
_NUMBER = (0, None)
_KEY_VALUE = _Layout({1: _PART, 2: _PART, 3: _NUMBER})
_RESOURCE = _Layout({1: (LENGTH_DELIMITED, _KEY_VALUE), 2: _NUMBER, 3: _PART})
_SCOPE_RECORDS = _Layout({1: _PART, 2: _PART, 3: _PART})
_BLOCK = _Layout(
    {
        1: (LENGTH_DELIMITED, _RESOURCE),
        2: (LENGTH_DELIMITED, _SCOPE_RECORDS),
        3: _PART,
        1000: (LENGTH_DELIMITED, _SCOPE_RECORDS),
    }
)


def looks_like_request(head: bytes) -> bool:
    """Return whether bytes, cut short or not, begin with a block of a request of any signal."""
    try:
        number, wire_type, start, end = read_field(head, 0)
    except WireError:
        return False
    if (number, wire_type) != (1, LENGTH_DELIMITED):
        return False
    return start < len(head) and _fits(head[start:end], _BLOCK, is_cut=end > len(head))


def _fits(data: bytes, layout: _Layout, *, is_cut: bool) -> bool:
    at = 0
    while at < len(data):
        try:
            number, wire_type, start, end = read_field(data, at)
        except WireCutError:
            return is_cut
        except WireError:
            return False
        expected = layout.fields.get(number)
        if expected is None or expected[0] != wire_type or (end > len(data) and not is_cut):
            return False
        below = expected[1]
        if below is not None and not _fits(data[start:end], below, is_cut=end > len(data)):
            return False
        at = end
    return True
