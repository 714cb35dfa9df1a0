"""Who told of a run: the family and the scope of each of its spans, read back from the session.

A session holds every span it was made of, so that a session file is as good as the trace.
"""

from analyzer.session.model import Session, SpanRef
from critiqor_otel.conventions.convention import Field
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.families import critiqor
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.emit.original_spans import original_spans
from critiqor_otel.reconstruct.ties import EVIDENCE
from critiqor_otel.span import Scope

__all__ = ["OURS", "Origin", "Origins"]

OURS = critiqor.CONVENTION.name
"""The family of events that came from no span: our recorder's and plugins'."""

Origin = tuple[str, str]
"""A family, and the name of a scope."""


class Origins:
    """The spans of one run, by who wrote them."""

    def __init__(self, session: Session) -> None:
        """Look at each span once."""
        self.spans: list[tuple[str | None, Scope]] = []
        """Family (None: no table knows the span) and scope of each span."""
        self.conversation = False
        """Some span names a conversation."""
        self._homes: dict[SpanRef, Origin] = {}
        speaking: dict[Origin, None] = {}
        for ref, original in original_spans(session)[0].items():
            facts = facts_of(original.span)
            self.spans.append((facts.family, original.span.scope))
            if facts.family is not None:
                self._take(ref, facts, speaking)
        self.speaking: tuple[Origin, ...] = tuple(speaking or dict.fromkeys(self._homes.values())) or ((OURS, ""),)
        """Those whose spans show the agent at work, in order of appearance."""

    def home(self, ref: SpanRef | None) -> Origin | None:
        """Return who wrote the span that an event came from."""
        return None if ref is None else self._homes.get(ref)

    def _take(self, ref: SpanRef, facts: Facts, speaking: dict[Origin, None]) -> None:
        origin = self._homes[ref] = (facts.family or OURS, facts.span.scope.name)
        if facts.role in EVIDENCE:
            speaking.setdefault(origin)
        self.conversation = self.conversation or facts.get(Field.SESSION_ID) is not None
