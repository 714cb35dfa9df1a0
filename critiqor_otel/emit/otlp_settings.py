"""Where OTLP goes and how, as the standard variables say: OTEL_EXPORTER_OTLP_TRACES_*, else OTEL_EXPORTER_OTLP_*.

Values are understood as the stock Python exporter understands them: seconds for the timeout, headers with
percent-encoding, a traces endpoint as it is and a general one with `/v1/traces` behind it.
"""

import logging
import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

__all__ = [
    "Compression",
    "OtlpSettings",
    "Protocol",
    "host_of",
    "settings_from_environment",
    "sound_headers",
    "tls_context",
]

Protocol: TypeAlias = Literal["http/protobuf", "grpc"]
Compression: TypeAlias = Literal["none", "gzip", "deflate"]

_HTTP_ENDPOINT, _GRPC_ENDPOINT = "http://localhost:4318", "http://localhost:4317"
_PATH = "/v1/traces"
_TIMEOUT = 10.0
_HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"[\t -~]*")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtlpSettings:
    """How to reach a receiver."""

    endpoint: str
    protocol: Protocol = "http/protobuf"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in lower case."""
    timeout: float = _TIMEOUT
    """Seconds for one request."""
    compression: Compression = "none"
    certificate_file: str | None = None
    client_key_file: str | None = None
    client_certificate_file: str | None = None
    insecure: bool = False
    """gRPC without TLS to an endpoint that names no scheme."""


def settings_from_environment(*, protocol: Protocol | None = None, endpoint: str | None = None) -> OtlpSettings:
    """Return the settings of the environment; what is given goes before it."""
    spoken = protocol or _protocol(_variable("PROTOCOL"))
    return OtlpSettings(
        endpoint=endpoint or _endpoint(spoken),
        protocol=spoken,
        headers=_headers(_variable("HEADERS") or ""),
        timeout=_seconds(_variable("TIMEOUT")),
        compression=_compression(_variable("COMPRESSION")),
        certificate_file=_variable("CERTIFICATE"),
        client_key_file=_variable("CLIENT_KEY"),
        client_certificate_file=_variable("CLIENT_CERTIFICATE"),
        insecure=(_variable("INSECURE") or "").lower() == "true",
    )


def tls_context(settings: OtlpSettings) -> ssl.SSLContext:
    """Return the context for HTTPS, with the certificates that are named.

    Raises:
        OSError: a certificate or key cannot be read.
    """
    context = ssl.create_default_context(cafile=settings.certificate_file)
    if settings.client_certificate_file is not None:
        context.load_cert_chain(settings.client_certificate_file, settings.client_key_file)
    return context


def _variable(name: str) -> str | None:
    """Return a variable's value, that for traces before that for all signals."""
    own = os.environ.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}")
    return own or os.environ.get(f"OTEL_EXPORTER_OTLP_{name}") or None


def _protocol(value: str | None) -> Protocol:
    if value in (None, "http/protobuf"):
        return "http/protobuf"
    if value == "grpc":
        return "grpc"
    _logger.warning("OTEL_EXPORTER_OTLP_PROTOCOL is %r; http/protobuf is spoken", value)
    return "http/protobuf"


def _endpoint(protocol: Protocol) -> str:
    own = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    if own:
        return own
    shared = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    if protocol == "grpc":
        return shared or _GRPC_ENDPOINT
    return f"{(shared or _HTTP_ENDPOINT).removesuffix('/')}{_PATH}"


def _headers(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in text.split(","):
        name, separator, value = pair.partition("=")
        if separator and name.strip():
            found[unquote(name).strip().lower()] = unquote(value).strip()
        elif pair.strip():
            _logger.warning("a header of OTEL_EXPORTER_OTLP_HEADERS has no name or value; it was left out")
    return found


def _seconds(value: str | None) -> float:
    try:
        seconds = _TIMEOUT if value is None else float(value)
    except ValueError:
        seconds = 0.0
    if seconds > 0:
        return seconds
    _logger.warning("OTEL_EXPORTER_OTLP_TIMEOUT is %r, no number of seconds; %s are waited", value, _TIMEOUT)
    return _TIMEOUT


def _compression(value: str | None) -> Compression:
    word = (value or "none").strip().lower()
    if word == "gzip":
        return "gzip"
    if word == "deflate":
        return "deflate"
    if word != "none":
        _logger.warning("OTEL_EXPORTER_OTLP_COMPRESSION is %r; nothing is compressed", value)
    return "none"


def sound_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers without the blanks around their values, such as the end of a file's line.

    Raises:
        ValueError: one can't be sent; its value, which may be a secret, is not told.
    """
    sound = {name: value.strip() for name, value in headers.items()}
    for name, value in sound.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ValueError(f"the header {name!r} can't be sent: its name or value holds what no header may")
    return sound


def host_of(endpoint: str) -> str:
    """Return host and port of an endpoint for a message, without what else it may hold."""
    parts = urlsplit(endpoint if "//" in endpoint else f"//{endpoint}")
    return parts.netloc.rpartition("@")[2] or endpoint
