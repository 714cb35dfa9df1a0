"""A session becomes spans, and the spans become the same session again, apart from the spans of its events."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest
from drawn_sessions import SESSIONS, many
from hypothesis import given
from trips import TRIPS, came_back, without_spans

from analyzer.diagnosis import Profile, diagnose
from analyzer.session.codec import read_session
from analyzer.session.model import Event, Session
from critiqor_otel.decode.otlp_protobuf import decode_logs, decode_traces
from critiqor_otel.emit.session_spans import spans_of
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span

CASES = Path(__file__).parents[1] / "cases"
RECORDED = sorted((CASES / "critiqor-v1").glob("*.session.json"))
CAPTURED = sorted(path for path in (CASES / "captures").glob("*/*.otlp.pb") if ".logs." not in path.name)

Trip = Callable[[Iterable[Span]], Iterable[Span]]
every_trip = pytest.mark.parametrize("trip", TRIPS, ids=lambda trip: trip.__name__)


@every_trip
@given(session=SESSIONS)
def test_any_session_comes_back_as_it_was(trip: Trip, session: Session) -> None:
    back = came_back(trip(spans_of(session)))

    assert without_spans(back) == without_spans(session)


@given(session=SESSIONS)
def test_the_order_of_arrival_changes_nothing(session: Session) -> None:
    spans = spans_of(session)

    assert came_back(reversed(spans)) == came_back(spans)


@given(session=SESSIONS)
def test_an_event_that_had_a_span_keeps_it_and_every_other_gets_one(session: Session) -> None:
    back = came_back(spans_of(session))

    kept = [event.span for event in session.events if event.span is not None]
    assert [event.span for event, old in zip(back.events, session.events, strict=True) if old.span is not None] == kept
    assert all(event.span is not None for event in back.events)


@given(session=SESSIONS)
def test_the_same_session_gives_the_same_spans(session: Session) -> None:
    assert spans_of(session) == spans_of(session)


@every_trip
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem.removesuffix(".session"))
def test_a_recorded_session_comes_back_and_gets_the_same_diagnosis(trip: Trip, path: Path) -> None:
    session = read_session(path.read_bytes())

    back = came_back(trip(spans_of(session)))

    assert without_spans(back) == without_spans(session)
    for profile in Profile:
        assert verdict(back, profile) == verdict(session, profile)


def verdict(session: Session, profile: Profile) -> dict[str, object]:
    bare = msgspec.structs.replace(
        session, events=tuple(msgspec.structs.replace(event, span=None) for event in session.events)
    )
    return diagnose(bare, profile=profile).to_dict()


@every_trip
def test_5000_events_below_one_span_all_come_back(trip: Trip) -> None:
    session = Session(run_id="long", events=many(5000, time_ns=1_780_000_000_000_000_000, payload={"reason": "why"}))
    spans = spans_of(session)

    assert without_spans(came_back(trip(spans))) == without_spans(session)
    assert max(len(span.events) for span in spans) <= 128


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")
def test_a_session_rebuilt_from_spans_is_replayed_as_those_spans(path: Path) -> None:
    records = path.with_name(path.name.replace(".otlp.", ".logs.otlp."))
    spans = decode_traces(path.read_bytes()).spans
    sessions = reconstruct(spans, decode_logs(records.read_bytes()).logs if records.exists() else ()).sessions

    replayed = [span for session in sessions for span in spans_of(session)]

    assert reconstruct(replayed).sessions == sessions
    original = {(span.trace_id, span.span_id): span for span in spans}
    again = {address: span for span in replayed if (address := (span.trace_id, span.span_id)) in original}
    for address, span in again.items():
        was = original[address]
        assert (span.name, span.kind, span.start_ns, span.end_ns, span.status, span.parent_span_id, span.links) == (
            *(was.name, was.kind, was.start_ns, was.end_ns, was.status, was.parent_span_id, was.links),
        )
        assert was.attributes.items() <= span.attributes.items()
        assert span.events[: len(was.events)] == was.events


@every_trip
def test_a_session_of_spans_and_of_recorded_events_comes_back(trip: Trip) -> None:
    capture = CASES / "captures" / "pydantic_ai" / "clean_two_tools.otlp.pb"
    rebuilt = came_back(decode_traces(capture.read_bytes()).spans)
    process = Event(event_id="p", event="process_start", event_type="process_start", payload={"command": ["agent"]})
    session = msgspec.structs.replace(rebuilt, events=(process, *rebuilt.events, *many(300)))

    assert without_spans(came_back(trip(spans_of(session)))) == without_spans(session)


def test_a_replayed_session_can_be_replayed_again() -> None:
    session = read_session(RECORDED[0].read_bytes())
    once = came_back(spans_of(session))

    assert came_back(spans_of(once)) == once


def test_spans_that_never_arrive_are_missed() -> None:
    session = Session(run_id="long", events=many(300))
    spans = [span for span in spans_of(session) if span.events]

    back = came_back(spans[1:])

    assert len(back.events) < 300
    assert [note.code for note in back.notes] == ["lost-events"]
    assert back.notes[0].message.startswith(f"{300 - len(back.events)} events")
