"""What leaves the process is scrubbed: secrets by key and by shape, texts that are too long, what the user forbids.

A redaction is a set of rules that is applied to values of any form: attributes, events, names, links, resources.
"""

import fnmatch
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from analyzer.lenient import is_mapping, is_sequence
from analyzer.remembered import remembered
from analyzer.session.model import Event
from critiqor_otel.emit.secret_shapes import REDACTED, is_id_key, is_secret_key, redacted_id, redacted_text
from critiqor_otel.span import Link, Resource, Scope, Span, SpanEvent

__all__ = ["REDACTED", "Redaction"]

_DEEPEST = 100  # levels looked into; what lies deeper is replaced


class Redaction(Struct, frozen=True):
    """Rules: patterns of attribute keys (`*` allowed) and the longest text, in characters."""

    allow: tuple[str, ...] = ()
    """Keys that are left alone."""
    deny: tuple[str, ...] = ()
    """Keys whose values never leave."""
    max_text: int | None = None
    """Longer texts are cut there, and say so."""
    secrets: bool = True
    """Whether secrets are looked for at all."""

    def text(self, text: str) -> str:
        """Return a text without its secrets, cut where it is too long."""
        return self._cut(redacted_text(text) if self.secrets else text)

    def _cut(self, text: str) -> str:
        if self.max_text is None or len(text) <= self.max_text:
            return text
        return f"{text[: self.max_text]}… [cut: {self.max_text} of {len(text)} characters]"

    def value(self, value: Any, key: str = "", depth: int = 0) -> Any:
        """Return a value without its secrets; the key it stands under may make it one as a whole."""
        if value is None or isinstance(value, bool) or value == "":
            return value
        if self._is_secret(key) and not _is_count(key, value):
            return REDACTED
        if isinstance(value, str):
            return self.text(value) if not self.secrets or not _names_id(key) else self._cut(redacted_id(value))
        if isinstance(value, bytes):
            return self.text(value.decode("latin-1")).encode("latin-1", "replace")
        return self._inside(value, depth)

    def _inside(self, value: Any, depth: int) -> Any:
        if is_mapping(value):
            if depth >= _DEEPEST:
                return REDACTED
            return {self.text(str(name)): self.value(item, str(name), depth + 1) for name, item in value.items()}
        if is_sequence(value):
            return REDACTED if depth >= _DEEPEST else [self.value(item, "", depth + 1) for item in value]
        return value

    def attribute(self, key: str, value: Any) -> Any:
        """Return an attribute's value without its secrets; one that is allowed as it is."""
        return value if self.allow and _matches(key, self.allow) else self.value(value, key)

    def scrub_for(self, key: str) -> Callable[[str], str]:
        """Return what `attribute` does to the texts under a key, for who has many of them."""
        if self.allow or self.deny or self.max_text is not None or self._is_secret(key):
            return lambda text: self.attribute(key, text)
        if not self.secrets:
            return str
        return redacted_id if _names_id(key) else redacted_text

    def attributes(self, held: Mapping[str, Any]) -> dict[str, Any]:
        """Return attributes without their secrets."""
        return {key: self.attribute(key, value) for key, value in held.items()}

    def event(self, event: Event) -> Event:
        """Return a session's event without the secrets in it; what names and orders it stays."""
        return msgspec.structs.replace(
            event,
            error=self.value(event.error),
            payload=self.value(event.payload),
            extra=self.attributes(event.extra),
            status=None if event.status is None else self.text(event.status),
        )

    def span(self, span: Span, *, carried: frozenset[str] = frozenset()) -> Span:
        """Return a span without secrets in name, status, attributes, events and links; scope and resource are shared.

        Attributes that carry events were scrubbed when they were written, and stay whole.
        """
        return msgspec.structs.replace(
            span,
            name=self.text(span.name),
            status_message=self.text(span.status_message),
            attributes=self.spared(span.attributes, carried),
            events=tuple(self._span_event(event, carried) for event in span.events),
            links=tuple(Link(link.trace_id, link.span_id, self.attributes(link.attributes)) for link in span.links),
            trace_state=self.text(span.trace_state),
        )

    def resource(self, resource: Resource) -> Resource:
        """Return a resource without its secrets."""
        return Resource(self.attributes(resource.attributes), self.text(resource.schema_url))

    def scope(self, scope: Scope) -> Scope:
        """Return a scope without its secrets."""
        return Scope(scope.name, scope.version, self.attributes(scope.attributes), self.text(scope.schema_url))

    def _span_event(self, event: SpanEvent, carried: frozenset[str]) -> SpanEvent:
        return SpanEvent(event.time_ns, self.text(event.name), self.spared(event.attributes, carried))

    def spared(self, held: Mapping[str, Any], carried: frozenset[str]) -> dict[str, Any]:
        """Return attributes without their secrets; those that carry events were scrubbed when they were written."""
        return {key: value if key in carried else self.attribute(key, value) for key, value in held.items()}

    def _is_secret(self, key: str) -> bool:
        return bool(key) and ((self.secrets and _names_secret(key)) or (bool(self.deny) and _matches(key, self.deny)))


_names_id = remembered(4096)(is_id_key)
_names_secret = remembered(4096)(is_secret_key)


def _matches(key: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns)


def _is_count(key: str, value: Any) -> bool:
    """Return whether a number under a key such as `token` is a count of them."""
    return isinstance(value, int | float) and "token" in key.lower()
