"""What a span must have for a family to be asked about it at all: most families know most spans not to be theirs."""

from msgspec import Struct

from critiqor_otel.span import Span

__all__ = ["Signs"]


class Signs(Struct, frozen=True, kw_only=True):
    """One of these stands on every span of the family."""

    keys: frozenset[str] = frozenset()
    """Attributes."""
    scopes: tuple[str, ...] = ()
    """How the name of its scope begins."""
    names: tuple[str, ...] = ()
    """How its own name begins."""
    resource: frozenset[str] = frozenset()
    """Attributes of its resource."""

    def mark(self, span: Span) -> bool:
        """Tell whether one of them stands on the span."""
        return (
            not self.keys.isdisjoint(span.attributes)
            or span.scope.name.startswith(self.scopes)
            or span.name.startswith(self.names)
            or not self.resource.isdisjoint(span.resource.attributes)
        )
