import json

import pytest
from drawn_sessions import JSON, TEXTS
from flat_sessions import plugin, session_of
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import SessionFileError
from analyzer.session.codec import read_session, write_session
from analyzer.session.model import Agent, Event, Note, Session, SpanRef
from analyzer.session.names import kind_of

MAYBE = st.none() | TEXTS
EVENT_KEYS = TEXTS | st.sampled_from(
    ["event_id", "event", "type", "event_type", "timestamp", "status", "span", "payload", "extra", "tool", "args"]
)
TOP_KEYS = TEXTS | st.sampled_from(["run_id", "session_id", "events", "event_log", "metrics", "metadata", "extra"])
SPANS = st.none() | st.builds(SpanRef, TEXTS, TEXTS)
EVENTS = st.builds(
    Event,
    event_id=TEXTS,
    event=TEXTS.map(kind_of),
    event_type=TEXTS,
    time_ns=st.none() | st.integers(),
    source_layer=MAYBE,
    tool_name=MAYBE,
    tool_call_id=MAYBE,
    status=MAYBE,
    duration_ms=st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
    error=JSON,
    payload=JSON,
    span=SPANS,
    extra=st.dictionaries(EVENT_KEYS, JSON, max_size=3),
)
SESSIONS = st.builds(
    Session,
    run_id=TEXTS,
    events=st.lists(EVENTS, max_size=3).map(tuple),
    agent=st.builds(Agent, name=MAYBE, framework=MAYBE, version=MAYBE),
    trace_ids=st.lists(TEXTS, max_size=2).map(tuple),
    continues=MAYBE,
    notes=st.lists(st.builds(Note, code=TEXTS, message=TEXTS, span=SPANS, event_id=MAYBE, place=MAYBE), max_size=2).map(
        tuple
    ),
    extra=st.dictionaries(TOP_KEYS, JSON, max_size=3),
)


@given(SESSIONS)
def test_what_is_written_is_read_again(session: Session) -> None:
    assert read_session(write_session(session)) == session


@given(SESSIONS)
def test_what_is_written_is_strict_json(session: Session) -> None:
    def refuse(name: str) -> None:
        pytest.fail(f"{name} is no JSON")

    document = json.loads(write_session(session), parse_constant=refuse)

    assert len(document["events"]) == len(session.events)


def test_a_number_that_json_cannot_spell_is_written_as_an_object() -> None:
    event = Event(event_id="a", event="decision", event_type="decision", payload=[float("nan"), float("-inf"), None])

    (written,) = json.loads(write_session(Session(run_id="r", events=(event,))))["events"]

    assert written["payload"] == [{"doubleValue": "NaN"}, {"doubleValue": "-Infinity"}, None]


def test_a_file_of_the_plugin_is_read() -> None:
    session = session_of(
        plugin("session_start"),
        plugin("tool_execution_start", toolName="read", toolCallId="c1", args={"path": "a"}),
        plugin("tool_result", toolName="read", toolCallId="c1", isError=True, error="gone"),
        plugin("after_provider_response", usage={"total": 7}),
        plugin("memory_get", toolName="memory_get", toolCallId="m1"),
    )

    assert [(event.event, event.event_type, event.status) for event in session.events] == [
        ("state_transition", "session_start", None),
        ("tool_call", "tool_execution_start", "ok"),
        ("tool_output", "tool_result", "error"),
        ("token_usage", "after_provider_response", None),
        ("memory_event", "memory_get", "ok"),
    ]


def test_flat_fields_stay_on_the_event() -> None:
    (event,) = session_of({"event": "tool_call", "tool": "search", "args": None}).events

    assert event.extra == {"tool": "search", "args": None}


def test_events_without_an_id_are_called_after_their_place() -> None:
    session = session_of({"event": "input"}, {"event": "input", "event_id": "mine"}, {"event": "input"})

    assert [event.event_id for event in session.events] == ["event_0", "mine", "event_2"]


def test_type_stands_in_for_event() -> None:
    (event,) = session_of({"type": "tool_call", "tool": "a"}).events

    assert (event.event, event.event_type, event.extra) == ("tool_call", "tool_call", {"tool": "a"})


def test_a_list_of_events_is_a_session_too() -> None:
    session = read_session(b'[{"event": "input"}]')

    assert [event.event_type for event in session.events] == ["input"]
    assert [note.code for note in session.notes] == ["no-schema-version", "no-run-id"]


def test_a_run_record_is_a_session_too() -> None:
    record = {"run_id": "run_007", "status": "COMPLETED", "event_log": [], "metadata": {"agent_id": "mine"}}

    session = read_session(json.dumps(record).encode())

    assert (session.run_id, session.agent.name, session.extra["status"]) == ("run_007", "mine", "COMPLETED")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (None, "event-not-object"),
        ("x", "event-not-object"),
        ({}, "event-without-name"),
        ({"event": "input", "timestamp": "yesterday"}, "bad-value"),
        ({"event": "input", "status": 3}, "bad-value"),
        ({"event": "input", "event_id": {"a": 1}}, "bad-value"),
        ({"event": "input", "span": "x"}, "bad-value"),
        ({"event": "input", "duration_ms": "long"}, "bad-value"),
        ({"event": ["x"], "event_type": "input"}, "bad-value"),
    ],
)
def test_an_odd_event_is_kept_with_a_note(raw: object, code: str) -> None:
    session = session_of({"event": "input"}, raw)

    again = read_session(write_session(session))

    assert [note.code for note in session.notes] == [code]
    assert len(again.events) == 2
    assert again == session


def test_a_value_of_a_wrong_type_stays_beside_the_event() -> None:
    (event,) = session_of({"event": "input", "timestamp": "yesterday", "status": 3}).events

    assert (event.time_ns, event.status) == (None, None)
    assert event.extra == {"timestamp": "yesterday", "status": 3}


def test_an_id_that_is_a_number_is_read_as_text() -> None:
    (event,) = session_of({"event": "tool_call", "tool_call_id": 7}).events

    assert (event.tool_call_id, event.extra) == ("7", {"tool_call_id": 7})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b'{"events": [{"ev', "no JSON"),
        (b"7", "an object or a list of events"),
        (b'{"run_id": "a"}', "a list of events, here events is None"),
        (b'{"events": {}}', "a list of events, here events is {}"),
        (b'{"schema_version": "critiqor.session.v9", "events": []}', "'critiqor.session.v9', this build reads"),
    ],
)
def test_what_is_no_session_is_refused_with_a_clear_word(data: bytes, message: str) -> None:
    with pytest.raises(SessionFileError, match=message.replace("{", r"\{")):
        read_session(data)


def test_a_byte_order_mark_is_passed_over() -> None:
    session = read_session(b'\xef\xbb\xbf{"schema_version": "critiqor.session.v1", "run_id": "a", "events": []}')

    assert (session.run_id, session.notes) == ("a", ())


def test_bytes_that_are_no_utf8_are_replaced_with_a_note() -> None:
    session = read_session(b'{"schema_version": "critiqor.session.v1", "run_id": "caf\xe9", "events": []}')

    assert session.run_id == "caf\N{REPLACEMENT CHARACTER}"
    assert [note.code for note in session.notes] == ["invalid-utf8"]


def test_lone_surrogates_and_long_numbers_survive() -> None:
    data = b'[{"event": "input", "payload": ["\\ud83e", 123456789012345678901234567890, 9e999, NaN]}]'

    (event,) = read_session(data).events

    assert event.payload == [
        "\ud83e",
        123456789012345678901234567890,
        {"doubleValue": "Infinity"},
        {"doubleValue": "NaN"},
    ]


def test_a_number_of_five_thousand_digits_is_kept_as_text() -> None:
    (event,) = read_session(b'[{"event": "input", "payload": ' + b"9" * 5_000 + b"}]").events

    assert event.payload == {"intValue": "9" * 5_000}


def test_what_is_nested_too_deep_is_kept_as_text() -> None:
    depth = 20_000
    session = read_session(b'[{"event": "input", "payload": ' + b"[" * depth + b"]" * depth + b"}]")

    (event,) = session.events
    value, levels = event.payload, 0
    while isinstance(value, list):
        (value, levels) = (value[0], levels + 1)

    assert levels + len(value) // 2 == depth
    assert "deep-nesting" in [note.code for note in session.notes]


def test_a_deep_payload_is_written() -> None:
    payload: list[object] = []
    for _ in range(20_000):
        payload = [payload]
    event = Event(event_id="a", event="decision", event_type="decision", payload=payload)

    written = write_session(Session(run_id="r", events=(event,)))

    assert written.count(b"[" * 20_001 + b"]" * 20_001) == 1


def test_derived_fields_of_the_source_are_made_anew() -> None:
    source = {"metrics": {"total_events": 99}, "created_at": "x", "updated_at": "y", "events_file": "z"}
    session = session_of({"event": "input", "timestamp": "2025-06-01T12:00:00.5Z"}, **source)

    written = json.loads(write_session(session))

    assert session.extra == {}
    assert written["metrics"]["total_events"] == 1
    assert written["created_at"] == "2025-06-01T12:00:00.500000000Z"


def test_unknown_fields_of_the_file_are_kept() -> None:
    session = session_of(lifecycle=[{"state": "IDLE"}])

    assert json.loads(write_session(session))["lifecycle"] == [{"state": "IDLE"}]


def test_a_second_name_for_the_run_is_kept_aside_with_a_note() -> None:
    session = session_of(run_id="a", session_id="b")

    assert (session.run_id, session.extra) == ("a", {"session_id": "b"})
    assert [note.code for note in session.notes] == ["bad-value"]
