"""What a gRPC client hears that came to the HTTP port: each call is answered with a message that says where to go.

As much of HTTP/2 as that takes (RFC 9113, RFC 7541): settings are exchanged, every stream that opens is answered with a
gRPC status, all else is passed over.
"""

import struct

__all__ = ["PREFACE", "Http2Apology"]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""How every HTTP/2 connection begins."""

_HEADERS, _SETTINGS, _GOAWAY = 1, 4, 7
_ACK = _END_STREAM = 1
_END_HEADERS = 4
_FRAME = struct.Struct(">BHBBL")  # length (24 bits), type, flags, stream
_NO_ERROR = 0  # HTTP_1_1_REQUIRED (13) would fit, and makes clients of grpc 1.85 abort
_UNIMPLEMENTED = b"12"  # not to be tried again: the port will not change
_MOST_BYTES = 1 << 16
_STATUS_200 = b"\x88"  # the static table's entry
_LITERAL = b"\x00"  # a header that is spelled out, and not to be remembered


class Http2Apology:
    """One connection of a client that is lost."""

    def __init__(self, message: str) -> None:
        """Take what to say; it must be plain ASCII, at most 126 characters of it are said."""
        self._message = message.encode("ascii", "replace")[:126].replace(b"%", b"%25")[:126]
        self._buffer = b""
        self._greeted = False
        self._taken = 0

    def answer(self, data: bytes) -> tuple[bytes, bool]:
        """Return what to send on receiving these bytes, and whether the connection is to be closed then."""
        self._buffer += data
        self._taken += len(data)
        out: list[bytes] = []
        if not self._greeted and len(self._buffer) >= len(PREFACE):
            self._greeted = True
            self._buffer = self._buffer[len(PREFACE) :]
            out.append(_frame(_SETTINGS, 0, 0, b""))
        answered = self._greeted and self._frames(out)
        if answered:
            out.append(_frame(_GOAWAY, 0, 0, struct.pack(">LL", 1, _NO_ERROR) + self._message))
        return b"".join(out), answered or self._taken > _MOST_BYTES

    def _frames(self, out: list[bytes]) -> bool:
        answered = False
        while len(self._buffer) >= _FRAME.size:
            high, low, kind, flags, stream = _FRAME.unpack_from(self._buffer)
            end = _FRAME.size + (high << 16) + low
            if len(self._buffer) < end:
                break
            self._buffer = self._buffer[end:]
            if kind == _SETTINGS and not flags & _ACK:
                out.append(_frame(_SETTINGS, _ACK, 0, b""))
            elif kind == _HEADERS:
                out.append(_frame(_HEADERS, _END_STREAM | _END_HEADERS, stream, self._refusal()))
                answered = True
        return answered

    def _refusal(self) -> bytes:
        told = (
            (b"content-type", b"application/grpc"),
            (b"grpc-status", _UNIMPLEMENTED),
            (b"grpc-message", self._message),
        )
        return _STATUS_200 + b"".join(_LITERAL + _text(name) + _text(value) for name, value in told)


def _text(text: bytes) -> bytes:
    return bytes((len(text),)) + text


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return _FRAME.pack(len(payload) >> 16, len(payload) & 0xFFFF, kind, flags, stream) + payload
