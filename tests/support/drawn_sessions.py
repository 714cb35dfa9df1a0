"""Sessions that hypothesis draws: every kind of event, every spelling, and what nobody would write by hand."""

from typing import Any

from hypothesis import strategies as st

from analyzer.session.codec import read_session, write_session
from analyzer.session.model import Agent, Event, EventKind, Note, Session, SpanRef

__all__ = ["EVENTS", "JSON", "SESSIONS", "TEXTS"]

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=12),  # lone surrogates among them
    st.sampled_from(["", "search", "Ωmega 🦜", "cut \ud83e end", "a\x00b", '{"a": 1}', "tool_call", "x" * 300]),
)
NUMBERS = st.one_of(st.integers(-(1 << 53), 1 << 53), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
JSON = st.recursive(
    st.one_of(st.none(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
NAMES = (
    *(kind.value for kind in EventKind),
    *("agent_start", "agent_end", "turn_start", "turn_end", "session_start", "message_sent", "user_bash"),
    *("before_provider_request", "after_provider_response", "usage_report", "tool_execution_start", "tool_result"),
    *("tool_execution_update", "memory_search", "memory_upsert", "skill_load", "compaction", "evaluation", "error"),
    *("something_new", "", "Ωmega"),
)
PAYLOADS = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {},
        optional={
            "input": JSON,
            "result": JSON,
            "agent": TEXTS,
            "model": TEXTS,
            "usage": st.dictionaries(st.sampled_from(["input_tokens", "output_tokens", "total"]), NUMBERS),
            "messages": JSON,
            "operation": st.sampled_from(["search", "get", "store"]),
            "finish_reasons": JSON,
            "exit_code": st.integers(-2, 1 << 70),
            "command": JSON,
            "error_type": TEXTS,
        },
    ),
)
TIMES = st.one_of(
    st.none(),
    st.integers(1_780_000_000_000_000_000, 1_780_000_000_000_000_009),  # many of them equal
    st.sampled_from([0, -5, 1 << 80]),
)
SPANS = st.builds(SpanRef, st.just(f"{7:032x}"), st.sampled_from([f"{9:016x}", "not hex"]))


@st.composite
def _event(draw: st.DrawFn) -> Event:
    name = draw(st.sampled_from(NAMES))
    return Event(
        event_id=draw(TEXTS),
        event=name,
        event_type=draw(st.sampled_from([name, name, "tool_call"])),
        time_ns=draw(TIMES),
        source_layer=draw(st.sampled_from([None, "extension_api", "tool_hooks"])),
        tool_name=draw(st.none() | TEXTS),
        tool_call_id=draw(st.sampled_from([None, "a", "b"]) | TEXTS),
        status=draw(st.sampled_from([None, "ok", "error"]) | TEXTS),
        duration_ms=draw(st.none() | st.floats(0, 1e6) | st.integers(0, 10)),
        error=draw(JSON),
        payload=draw(PAYLOADS),
        span=draw(st.sampled_from([None, None]) | SPANS),
        extra=draw(st.dictionaries(TEXTS | st.sampled_from(["tool", "args", "usage", "extra", "event"]), JSON)),
    )


EVENTS = st.lists(_event(), max_size=12)


@st.composite
def _session(draw: st.DrawFn) -> Session:
    drawn = Session(
        run_id=draw(TEXTS),
        events=tuple(draw(EVENTS)),
        agent=Agent(name=draw(st.none() | TEXTS), framework=draw(st.none() | TEXTS), version=draw(st.none() | TEXTS)),
        trace_ids=tuple(draw(st.lists(TEXTS, max_size=2))),
        continues=draw(st.none() | TEXTS),
        notes=tuple(draw(st.lists(st.builds(Note, code=TEXTS, message=TEXTS, event_id=st.none() | TEXTS), max_size=2))),
        extra=draw(st.dictionaries(TEXTS | st.sampled_from(["metadata", "notes", "resources"]), JSON, max_size=2)),
    )
    return _as_read(drawn)


def _as_read(session: Session) -> Session:
    """Return the session as its file is read: evidence always comes from one."""
    return read_session(write_session(session))


SESSIONS: st.SearchStrategy[Session] = _session()


def many(count: int, **fields: Any) -> tuple[Event, ...]:
    return tuple(Event(event_id=f"event_{n}", event="decision", event_type="plan", **fields) for n in range(count))
