"""What a user may set on a receiver: each option, its default, and what is wrong with a setting."""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from critiqor_otel.errors import ReceiverError
from critiqor_otel.spool.journal import JournalLimits
from critiqor_otel.spool.owner import OwnerSettings
from critiqor_otel.spool.record import Signal

__all__ = ["Limits", "ReceiverConfig", "Tls", "validated"]

_MIB = 1 << 20
_PATHS = {"/v1/traces": Signal.TRACES, "/v1/logs": Signal.LOGS, "/v1/metrics": Signal.METRICS}


class Tls(msgspec.Struct, frozen=True, kw_only=True):
    """Certificates, as paths of PEM files."""

    certificate: Path
    key: Path
    client_authority: Path | None = None
    """With it, only clients with a certificate of this authority are let in (mutual TLS)."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one client may ask for; everything beyond is refused, and the client told whether to try again."""

    request_bytes: int = 64 * _MIB
    """Of one request, before inflating and after."""
    held_bytes: int = 256 * _MIB
    """Of all request bodies in memory."""
    connections: int = 1000
    """HTTP connections; those beyond are closed at once."""
    streams: int = 100
    """Calls at once on one gRPC connection."""
    header_bytes: int = 64 * 1024
    """Of the head of one HTTP request."""
    requests_per_second: float | None = None
    """Of all clients together; None for as many as there are."""
    header_seconds: float = 10.0
    """Until the head of a request is whole."""
    body_seconds: float = 30.0
    """Until its body is."""
    keep_alive_seconds: float = 75.0
    """A connection may be idle so long between requests: longer than clients commonly keep one (60)."""
    connection_seconds: float = 3600.0
    """Age at which a gRPC connection is asked to be made anew."""


class ReceiverConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A receiver."""

    runs: Path = Path("runs")
    """Where sessions are sealed; the journal lies in a hidden folder in it."""
    host: str = "127.0.0.1"
    run_id: str | None = None
    """All that comes belongs to this run, unless it names another."""
    grpc_port: int | None = 4317
    """0 takes a free one; None leaves gRPC out."""
    http_port: int | None = 4318
    """0 takes a free one; None leaves HTTP out."""
    one_port: bool = False
    """Pass gRPC clients that come to the HTTP port on to the gRPC port, instead of telling them; not with TLS."""
    tls: Tls | None = None
    token: str | None = None
    """Clients must send it: `Authorization: Bearer TOKEN`, or as the password of Basic."""
    unprotected: bool = False
    """Listen beyond this machine with neither token nor client certificates."""
    cors_origins: tuple[str, ...] = ()
    """Web pages that may send: `https://app.example.org`, or `*`."""
    ui: bool = False
    """Show the runs to browsers at `/ui/` of the HTTP port."""
    paths: Mapping[str, Signal] = msgspec.field(default_factory=lambda: dict(_PATHS))
    """Where HTTP takes which signal."""
    limits: Limits = Limits()
    journal: JournalLimits = JournalLimits()
    sessions: OwnerSettings = OwnerSettings()
    owner: Literal["thread", "process"] = "thread"
    """Where sessions are made: beside the receiver, or in a process of its own, which pays under load."""
    shutdown_seconds: float = 10.0
    """For requests in flight, and then for sealing; what is not sealed by then is at the next start."""


def validated(config: ReceiverConfig) -> ReceiverConfig:
    """Return the configuration, if it can be served.

    Raises:
        ReceiverError: a setting contradicts another, or opens the receiver to the network without protection.
    """
    if config.grpc_port is None and config.http_port is None:
        raise ReceiverError("neither gRPC nor HTTP has a port: nothing would be received")
    if config.ui and config.http_port is None:
        raise ReceiverError("the pages are served over HTTP, which has no port")
    if config.token is not None and not (config.token.isascii() and config.token.strip()):
        raise ReceiverError("the token is empty or not ASCII: choose another")
    guarded = config.token is not None or (config.tls is not None and config.tls.client_authority is not None)
    if not (_is_loopback(config.host) or guarded or config.unprotected):
        raise ReceiverError(
            f"{config.host} can be reached from other machines: set a token or client certificates,"
            " or say that it may be unprotected (--unprotected)"
        )
    if config.tls is not None:
        for path in (config.tls.certificate, config.tls.key, config.tls.client_authority):
            if path is not None and not path.is_file():
                raise ReceiverError(f"{path} is no file: TLS needs it")
    return config


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
