"""What does `jaeger://host:16686?service=agent&lookback=2h` say: where to ask, what for, how far back?"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from analyzer.pattern import pattern
from analyzer.session.instants import parse_instant
from critiqor_otel.errors import UnreadableInputError

__all__ = ["Address", "Window", "is_address", "parse_address", "shown_address"]

_SECOND = 1_000_000_000
_UNITS = {"ms": _SECOND // 1000, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND, "d": 86400 * _SECOND}
_LOOKBACK = pattern(r"(\d{1,9})(ms|s|m|h|d)", re.ASCII)
_DEFAULT_LOOKBACK = "1h"
_OF_TIME = ("lookback", "start", "end")
_TLS = "+https"
_KINDS = ("jaeger", "tempo")
_SCHEMES = tuple(f"{kind}{tls}://" for kind in _KINDS for tls in ("", _TLS))


class Window(msgspec.Struct, frozen=True):
    """A stretch of time in nanoseconds since the epoch."""

    start_ns: int
    end_ns: int


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where to ask a back end, and what for."""

    kind: str
    """`jaeger` or `tempo`."""
    base: str
    """The HTTP address that paths of the API follow, without a slash at its end."""
    credentials: tuple[str, str] | None
    shown: str
    """The address as it was given, without credentials."""
    asked: Mapping[str, tuple[str, ...]]
    """The values of each key of the query, in the order given."""

    def window(self, now_ns: int) -> Window:
        """Return the stretch of time that is asked for; without one, the last hour.

        Raises:
            UnreadableInputError: a time is none that is understood, or the end comes before the start.
        """
        end_ns = self._instant("end", now_ns)
        start_ns = self._instant("start", end_ns - self._lookback_ns())
        if start_ns >= end_ns:
            raise UnreadableInputError(f"{self.shown}: its start is not before its end")
        return Window(max(start_ns, 0), end_ns)

    def one(self, key: str) -> str | None:
        """Return the value of a key that is given once.

        Raises:
            UnreadableInputError: it is given more than once.
        """
        values = self.asked.get(key, ())
        if len(values) > 1:
            raise UnreadableInputError(f"{self.shown}: {key} is given {len(values)} times; one is taken")
        return values[0] if values else None

    def _instant(self, key: str, otherwise_ns: int) -> int:
        text = self.one(key)
        if text is None:
            return otherwise_ns
        time_ns = parse_instant(text)
        if time_ns is None:
            raise UnreadableInputError(f"{self.shown}: {key} is no time such as 2026-01-31T12:00:00Z")
        return time_ns

    def _lookback_ns(self) -> int:
        found = _LOOKBACK.fullmatch(self.one("lookback") or _DEFAULT_LOOKBACK)
        if found is None:
            raise UnreadableInputError(f"{self.shown}: lookback is a number and ms, s, m, h or d: 90m, 2d")
        return int(found[1]) * _UNITS[found[2]]


def is_address(text: str) -> bool:
    """Tell whether an input is the address of a back end."""
    return text.lower().startswith(_SCHEMES)


def shown_address(text: str) -> str:
    """Return an address as it may be shown: without the user and the password."""
    scheme, separator, rest = text.partition("://")
    end = min((place for mark in "/?#" if (place := rest.find(mark)) >= 0), default=len(rest))
    return f"{scheme}{separator}{rest[:end].rpartition('@')[2]}{rest[end:]}"


def parse_address(text: str, ports: Mapping[str, int], keys: Mapping[str, tuple[str, ...]]) -> Address:
    """Return what an address says; `ports` and `keys` tell of each kind its usual port and what may be asked.

    `kind+https://` asks over TLS. A user and a password before the host are sent as they are asked for by proxies
    (Basic); what is said of the address leaves them out.

    Raises:
        UnreadableInputError: there is no host, the port is none, or a key is not known.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UnreadableInputError(f"{shown_address(text)}: {error}") from error
    kind = parts.scheme.removesuffix(_TLS)
    is_tls = parts.scheme != kind
    place = parts.netloc.rpartition("@")[2]
    shown = shown_address(text)
    if not parts.hostname:
        raise UnreadableInputError(f"{shown}: it names no host: {kind}://localhost:{ports[kind]}")
    if port is None:
        place = f"{place.rstrip(':')}:{443 if is_tls else ports[kind]}"
    return Address(
        kind=kind,
        base=f"{'https' if is_tls else 'http'}://{place}{parts.path.rstrip('/')}",
        credentials=(unquote(parts.username), unquote(parts.password or "")) if parts.username else None,
        shown=shown,
        asked=_asked(parts.query, shown, (*keys[kind], *_OF_TIME)),
    )


def _asked(query: str, shown: str, known: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    asked: dict[str, tuple[str, ...]] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in known:
            raise UnreadableInputError(f"{shown}: {key} is nothing that can be asked; known are {', '.join(known)}")
        asked[key] = (*asked.get(key, ()), value)
    return asked
