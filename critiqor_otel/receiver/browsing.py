"""What the HTTP side knows of the pages for browsers: where they lie, what an answer is, and who gives it."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

__all__ = ["CHALLENGE", "PREFIX", "Browsable", "UiAnswer"]

PREFIX = "/ui"
"""Where the pages lie."""

CHALLENGE = b'Basic realm="critiqor-otel", charset="UTF-8"'
"""What makes a browser ask for the token: it is the password, whatever the name."""

_GUARDS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class UiAnswer(msgspec.Struct, frozen=True):
    """An answer to a browser."""

    status: int
    content_type: bytes
    body: bytes
    further: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """All its headers but the length."""
        return [(b"content-type", self.content_type), *self.further, *_GUARDS]


class Browsable(Protocol):
    """Who answers below `PREFIX`; loaded with its templates where it is asked for."""

    async def answer(self, path: str, query: bytes, headers: Mapping[bytes, bytes]) -> UiAnswer:
        """Return the answer to a GET."""
        ...
