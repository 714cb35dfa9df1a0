"""A drop-in for the stock OTLP span exporter that loses less, says what it lost, and costs a fraction.

The same variables and arguments; see `delivery` for what it does about failures. What was lost stands on the first span
of the next export, in `critiqor.lost_spans`.
"""

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from typing_extensions import override

from critiqor_otel.conventions.carriage import LOST
from critiqor_otel.emit.delivery import Delivery, Patience
from critiqor_otel.emit.export_rules import ExportRules, outgoing_attributes
from critiqor_otel.emit.grpc_transport import GrpcTransport
from critiqor_otel.emit.http_transport import HttpTransport
from critiqor_otel.emit.otlp_settings import OtlpSettings, settings_from_environment
from critiqor_otel.emit.otlp_wire import Encoded, OtlpEncoder
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.reply import Transport
from critiqor_otel.span import Span

__all__ = ["OTLPSpanExporter", "transport_for"]

_ENOUGH, _ENOUGH_BYTES = 512, 1_000_000  # spans and bytes of a request, about
_LARGE = 10_000  # bytes; no receiver refuses a smaller span for its size
_DEFAULT_RULES = ExportRules()
_NOTHING: Mapping[str, Any] = {}
_logger = logging.getLogger(__name__)


def transport_for(settings: OtlpSettings) -> Transport:
    """Return the way to a receiver.

    Raises:
        ValueError: the endpoint is no address of its protocol.
        ModuleNotFoundError: gRPC is asked for and grpcio is not installed.
    """
    if settings.protocol == "grpc":
        return GrpcTransport(settings)
    return HttpTransport(settings)


class OTLPSpanExporter(SpanExporter):
    """Sends spans to an OTLP endpoint over HTTP or gRPC."""

    def __init__(  # noqa: PLR0913  # the stock exporter's arguments, and ours behind them
        self,
        endpoint: str | None = None,
        certificate_file: str | None = None,
        client_key_file: str | None = None,
        client_certificate_file: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        *,
        settings: OtlpSettings | None = None,
        rules: ExportRules = _DEFAULT_RULES,
        patience: Patience | None = None,
        on_lost: Callable[[int], object] | None = None,
    ) -> None:
        """Take what the stock exporter takes, else the environment; whom to tell how many spans were lost.

        Raises:
            ValueError: the endpoint is no address of its protocol.
        """
        found = settings or settings_from_environment(endpoint=endpoint)
        found = replace(
            found,
            certificate_file=certificate_file or found.certificate_file,
            client_key_file=client_key_file or found.client_key_file,
            client_certificate_file=client_certificate_file or found.client_certificate_file,
            headers={**found.headers, **{name.lower(): text for name, text in (headers or {}).items()}},
            timeout=found.timeout if timeout is None else timeout,
        )
        self._transport = transport_for(found)
        self._delivery = Delivery(self._transport, patience or Patience(timeout=found.timeout))
        self._rules = rules
        self._stamps = rules.stamps()
        self._encoder = OtlpEncoder(rules.redaction)
        self._on_lost = on_lost
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._untold = self._told = 0
        self._collected: list[Encoded] = []
        self._large: dict[int, ReadableSpan] = {}
        """Spans that may have to be cut, by their place among the collected."""
        self._collected_bytes = 0
        self.lost = 0
        """Spans lost so far, those that others counted among them."""
        self.rejected = 0
        """Spans that receivers rejected so far."""

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._after_fork()
        with self._lock:
            self._collect(spans)
            return self._send_collected()

    def collect(self, spans: Sequence[ReadableSpan]) -> None:
        """Take spans, and send them when there are enough for a request."""
        self._after_fork()
        with self._lock:
            self._collect(spans)
            if len(self._collected) >= _ENOUGH or self._collected_bytes >= _ENOUGH_BYTES:
                self._send_collected()

    def send_collected(self) -> None:
        """Send what was taken."""
        self._after_fork()
        with self._lock:
            self._send_collected()

    def export_neutral(self, spans: Sequence[Span]) -> bool:
        """Send neutral spans as they are, and return whether all were taken."""
        self._after_fork()
        encoder = OtlpEncoder(None)
        with self._lock:
            outcome = self._delivery.deliver(
                [encoder.span(span) for span in spans],
                lambda place, most: _cutting(None, most).span(spans[place]),
            )
        self.rejected += outcome.rejected
        self.count_lost(outcome.lost)
        return not outcome.lost and not outcome.rejected

    def count_lost(self, count: int) -> None:
        """Count spans that were lost before they came here, in a full queue say; the next export tells of them."""
        if count:
            self.lost += count
            self._untold += count
            if self._on_lost is not None:
                self._on_lost(count)

    @override
    def shutdown(self) -> None:
        self._delivery.stop()
        with self._lock:
            self._transport.close()

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True

    def _collect(self, spans: Sequence[ReadableSpan]) -> None:
        collected, encoder, size = self._collected, self._encoder, 0
        for span in spans:
            first = {LOST: self._untold} if self._untold and not collected else _NOTHING
            try:
                encoded = self._encoded(span, encoder, first)
            except Exception:
                _logger.exception("A span could not be encoded and is lost")
                self.count_lost(1)
                continue
            if first:
                self._told, self._untold = self._untold, 0
            length = len(encoded.span)
            if length >= _LARGE:
                self._large[len(collected)] = span
            collected.append(encoded)
            size += length
        self._collected_bytes += size

    def _send_collected(self) -> SpanExportResult:
        encoded, large, told = self._collected, self._large, self._told
        self._collected, self._large, self._collected_bytes, self._told = [], {}, 0, 0

        def shrink(place: int, most: int) -> Encoded:
            span = large.get(place)
            if span is None:
                return encoded[place]
            return self._encoded(span, _cutting(self._rules.redaction, most), _NOTHING)

        outcome = self._delivery.deliver(encoded, shrink)
        if told and not outcome.taken:
            self._untold += told
        self.rejected += outcome.rejected
        self.count_lost(outcome.lost)
        return SpanExportResult.FAILURE if outcome.lost else SpanExportResult.SUCCESS

    def _encoded(self, span: ReadableSpan, encoder: OtlpEncoder, first: Mapping[str, Any]) -> Encoded:
        held, more = outgoing_attributes(self._stamps, span)
        return encoder.sdk_span(span, (held, more, first) if more or first else (held,))

    def _after_fork(self) -> None:
        """Begin anew in a forked child: locks may have been held by threads that are not here."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._lock = threading.Lock()
            self._collected, self._large, self._collected_bytes = [], {}, 0
            self._delivery.renew()


def _cutting(redaction: Redaction | None, most: int) -> OtlpEncoder:
    """Return an encoder that cuts every text at so many characters, those that carry events too."""
    rules = Redaction(secrets=False) if redaction is None else redaction
    return OtlpEncoder(msgspec.structs.replace(rules, allow=(), max_text=most), spared=frozenset())
