from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from analyzer.session.event_form import write_event, write_events, write_object
from analyzer.session.instants import format_instant
from analyzer.session.model import Event, SpanRef

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["null", "a", "\ud800", 'q"'])
values: st.SearchStrategy[Any] = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner), max_leaves=6
)
texts = st.none() | st.sampled_from(["null", "search", "\ud800"])
events = st.builds(
    Event,
    event_id=st.sampled_from(["e", "null", "\udfff"]),
    event=st.just("tool_call"),
    event_type=st.just("tool_call"),
    time_ns=st.none() | st.integers(),
    source_layer=texts,
    tool_name=texts,
    tool_call_id=texts,
    status=texts,
    duration_ms=st.none() | st.floats() | st.integers(),
    error=values,
    payload=values,
    span=st.none() | st.just(SpanRef("0" * 32, "1" * 16)),
    extra=st.dictionaries(st.sampled_from(["args", "payload", "extra", "null"]), values, max_size=2),
)


@given(event=events)
def test_a_line_is_what_its_fields_spell_one_by_one(event: Event) -> None:
    fields = {
        key: value for key, value in msgspec.structs.asdict(event).items() if key not in ("time_ns", "extra", "span")
    }
    fields = {
        "event_id": fields.pop("event_id"),
        "event": fields.pop("event"),
        "event_type": fields.pop("event_type"),
        "timestamp": None if event.time_ns is None else format_instant(event.time_ns),
        **fields,
    }
    if event.span is not None:
        fields["span"] = msgspec.to_builtins(event.span)
    beside = {key: value for key, value in event.extra.items() if key not in ("payload", "extra")}
    hidden = {key: value for key, value in event.extra.items() if key in ("payload", "extra")}

    assert write_event(event) == write_object({**fields, **beside, **({"extra": hidden} if hidden else {})})


@given(found=st.lists(events, max_size=4))
def test_lines_written_together_are_those_written_one_by_one(found: list[Event]) -> None:
    assert write_events(found) == b",\n".join(map(write_event, found))
