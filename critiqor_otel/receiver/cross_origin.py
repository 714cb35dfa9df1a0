"""Which web pages may send: the answers to a browser's questions (CORS). Off unless origins are named."""

from collections.abc import Iterable, Mapping

__all__ = ["CrossOrigin"]

_ANY = "*"
_DAY = b"86400"  # seconds for which a browser remembers the answer; they cap it themselves
_USUAL = b"content-type, content-encoding, authorization"


class CrossOrigin:
    """Answers for the origins that are allowed."""

    def __init__(self, origins: Iterable[str]) -> None:
        """Take the origins as browsers send them, or `*`."""
        self._origins = frozenset(origin.rstrip("/").lower().encode() for origin in origins)
        self._any = _ANY.encode() in self._origins

    def of(self, origin: bytes | None) -> list[tuple[bytes, bytes]]:
        """Return the headers that every answer to a page of this origin bears; none when it may not send."""
        if origin is None or not (self._any or origin.lower() in self._origins):
            return []
        return [(b"access-control-allow-origin", b"*" if self._any else origin), (b"vary", b"origin")]

    def preflight(self, headers: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """Return the further headers of the answer to a question whether a request may be sent."""
        asked = headers.get(b"access-control-request-headers", _USUAL)
        return [
            (b"access-control-allow-methods", b"POST"),
            (b"access-control-allow-headers", asked),
            (b"access-control-max-age", _DAY),
        ]
