"""What every exporter of ours does to a span on its way out: stamps, content, secrets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan

from critiqor_otel.decode.sdk import held_attributes
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.stamping import Stamps

__all__ = ["ExportRules", "outgoing_attributes"]

_USUAL = Redaction()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRules:
    """What a user may choose; by default secrets are scrubbed and the rest goes as the instrumentations wrote it."""

    redaction: Redaction | None = _USUAL
    """None: nothing is scrubbed."""
    keep_content: bool = True
    """False: what was said, asked and answered stays inside, whatever instrumentation captured it."""
    fingerprints: bool | None = None
    """Whether tool spans get fingerprints; None: where content stays inside, since else it tells the same."""
    fingerprint_key: bytes | None = None
    """What fingerprints are made with; by default a key of this process."""

    def stamps(self) -> Stamps:
        """Return what makes the attributes of a span's end."""
        wanted = not self.keep_content if self.fingerprints is None else self.fingerprints
        prints = Fingerprints(self.fingerprint_key) if wanted else None
        return Stamps(prints, keep_content=self.keep_content)


def outgoing_attributes(stamps: Stamps, span: ReadableSpan) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return a span's own attributes as they may leave, and those that are stamped onto it."""
    held = held_attributes(span)
    more = stamps.of(span)
    stripped = stamps.stripped(held)
    return held if stripped is None else stripped, more
