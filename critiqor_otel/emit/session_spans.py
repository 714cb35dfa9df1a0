"""A session becomes spans, and loses nothing on the way: design §6.

What came from spans becomes those spans again; the rest becomes spans of the OTel GenAI conventions. Each brings its
events as JSON, and the run's own span (or the first original one) brings what else the session holds.
"""

from typing import Any

import msgspec

from analyzer.session.model import Agent, Session
from critiqor_otel.conventions.carriage import SESSION, ascii_json
from critiqor_otel.emit.derived_ids import span_id_of, trace_id_of
from critiqor_otel.emit.open_span import Tracks
from critiqor_otel.emit.original_spans import original_spans
from critiqor_otel.emit.plain_values import plain_text
from critiqor_otel.emit.recorded_spans import RecordedSpans
from critiqor_otel.span import Link, Resource, Scope, Span

__all__ = ["SCOPE", "head_of", "links_of", "spans_of", "tracks_of"]

SCOPE = Scope("critiqor_otel")


def spans_of(session: Session) -> tuple[Span, ...]:
    """Return the spans of a session, children mostly before parents; the same session gives the same spans.

    `critiqor_otel.reconstruct` makes the same session of them again, with `span` added to events that had none.
    """
    originals, others = original_spans(session)
    first = next(iter(originals.values()), None)
    spans = [span for original in originals.values() for span in original.spans(session.run_id)]
    head = ascii_json(head_of(session))
    if first is not None and not others:
        spans[0] = msgspec.structs.replace(spans[0], attributes={**spans[0].attributes, SESSION: head})
        return tuple(spans)
    trace_id = trace_id_of(session.run_id) if first is None else first.span.trace_id
    recorded = RecordedSpans(
        tracks_of(session.run_id, trace_id, session.agent),
        session.agent,
        parent=None if first is None else first.span.span_id,
    )
    for sequence, event in others:
        spans += recorded.feed(event, sequence)
    spans += recorded.finish({SESSION: head}, links_of(session))
    return tuple(spans)


def tracks_of(run_id: str, trace_id: str, agent: Agent) -> Tracks:
    """Return what the spans of a recorded run have in common; its service is the agent."""
    service = plain_text(agent.name or agent.framework or "agent")
    return Tracks(run_id, trace_id, Resource({"service.name": service}), SCOPE)


def head_of(session: Session) -> dict[str, Any]:
    """Return the session without its events, and how many they are."""
    head = {
        "run_id": session.run_id,
        "agent": msgspec.to_builtins(session.agent),
        "trace_ids": list(session.trace_ids),
        "continues": session.continues,
        "notes": [msgspec.to_builtins(note) for note in session.notes],
        "extra": session.extra,
        "events": len(session.events),
    }
    return {name: value for name, value in head.items() if value is not None}


def links_of(session: Session) -> tuple[Link, ...]:
    """Return a link to the run that this one carries on."""
    if session.continues is None:
        return ()
    return (Link(trace_id_of(session.continues), span_id_of(session.continues, "run")),)
