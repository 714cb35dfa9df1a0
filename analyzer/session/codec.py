"""A session file's bytes ⇄ a session. Reading takes every spelling and never fails on one event; writing knows one."""

import hashlib
from typing import Any

import msgspec

from analyzer.bulk import bulk_work
from analyzer.errors import SessionFileError
from analyzer.session.event_form import nested_extra, read_event, split_extra, write_events, write_object
from analyzer.session.instants import format_instant
from analyzer.session.jsontext import Remark, read_json
from analyzer.session.metrics import count_events
from analyzer.session.model import SCHEMA_VERSION, Agent, Event, Json, Note, Session
from analyzer.session.shapes import is_list, is_object

__all__ = ["read_session", "write_session"]

_EVENTS_FILE = "session.json"
_DERIVED = frozenset(("schema_version", "created_at", "updated_at", "events_file", "metrics"))
_PLACES = frozenset(("run_id", "session_id", "agent", "trace_ids", "continues", "notes", "events", *_DERIVED))
_RESERVED = frozenset((*_PLACES, "extra"))
_RUN_RECORD_EVENTS = "event_log"  # where a run record (runs/<run_id>.json) keeps its events


def read_session(data: bytes) -> Session:
    """Return the session that the bytes of a session file, a run record or a list of events hold.

    Events stay in the order of the file. Without a run id the session is named after a digest of the bytes.

    Raises:
        SessionFileError: they are no JSON, hold no events, or are of another schema version.
    """
    with bulk_work():
        document, remarks = _document(data)
        top = _Top(document, remarks)
        top.check_schema()
        events, notes = _read_events(top.events())
        return top.session(data, events, notes)


def write_session(session: Session) -> bytes:
    """Return the session file: strict JSON, one event a line; the same session gives the same bytes."""
    extra, hidden = split_extra(session.extra, _RESERVED)
    times = [event.time_ns for event in session.events if event.time_ns is not None]
    head: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "run_id": session.run_id,
        "session_id": session.run_id,
        "created_at": format_instant(min(times)) if times else None,
        "updated_at": format_instant(max(times)) if times else None,
        "events_file": _EVENTS_FILE,
        "agent": msgspec.to_builtins(session.agent),
        "trace_ids": list(session.trace_ids),
    }
    if session.continues is not None:
        head["continues"] = session.continues
    head["notes"] = [_note_form(note) for note in session.notes]
    tail: dict[str, Any] = {"metrics": count_events(session.events), **extra, **hidden}
    events = write_events(session.events)
    members = (
        *(_member(key, value) for key, value in head.items()),
        b'"events":[' + (b"\n" + events + b"\n" if events else b"") + b"]",
        *(_member(key, value) for key, value in tail.items()),
    )
    return b"{\n" + b",\n".join(members) + b"\n}\n"


def _read_events(raw_events: list[Json]) -> tuple[list[Event], list[Note]]:
    events: list[Event] = []
    notes: list[Note] = []
    for index, raw in enumerate(raw_events):
        event, odd = read_event(raw, index)
        events.append(event)
        if odd:
            notes += (Note(code=code, message=message, event_id=event.event_id) for code, message in odd)
    return events, notes


def _member(key: str, value: Json) -> bytes:
    return write_object({key: value})[1:-1]


def _note_form(note: Note) -> dict[str, Any]:
    return {key: value for key, value in msgspec.to_builtins(note).items() if value is not None}


def _document(data: bytes) -> tuple[Json, list[Remark]]:
    if not data.strip():
        raise SessionFileError("the file is empty")
    try:
        return read_json(data)
    except ValueError as error:
        raise SessionFileError(f"the file is no JSON: {error}") from error


class _Top:
    """The top level of a session file: what was understood, what is left over, what was odd."""

    def __init__(self, document: Json, remarks: list[Remark]) -> None:
        raw: Json = {"events": document} if is_list(document) else document
        if not is_object(raw):
            raise SessionFileError(f"a session is an object or a list of events, this is {document!r:.60}")
        self.raw = raw
        self.remarks = remarks
        left = {key: value for key, value in raw.items() if key not in _PLACES}
        self.extra: dict[str, Json] = nested_extra(left, _RESERVED)

    def session(self, data: bytes, events: list[Event], event_notes: list[Note]) -> Session:
        run_id, agent, trace_ids, continues = self.run_id(data), self.agent(), self.trace_ids(), self.continues()
        told = self.notes()
        found = (Note(code=code, message=message) for code, message in self.remarks)
        return Session(
            run_id=run_id,
            agent=agent,
            trace_ids=trace_ids,
            continues=continues,
            events=tuple(events),
            notes=(*told, *found, *event_notes),
            extra=self.extra,
        )

    def check_schema(self) -> None:
        found = self.raw.get("schema_version")
        if found is None:
            self.remark("no-schema-version", f"the file names no schema_version; read as {SCHEMA_VERSION}")
        elif found != SCHEMA_VERSION:
            raise SessionFileError(f"schema_version is {found!r:.60}, this build reads {SCHEMA_VERSION}")

    def events(self) -> list[Json]:
        name = "events"
        if self.raw.get(name) is None and _RUN_RECORD_EVENTS in self.extra:
            name = _RUN_RECORD_EVENTS
        found = self.raw.get(name)
        if not is_list(found):
            raise SessionFileError(f"a session has a list of events, here events is {found!r:.60}")
        if name == _RUN_RECORD_EVENTS:
            del self.extra[name]
        return found

    def run_id(self, data: bytes) -> str:
        first, second = self.raw.get("run_id"), self.raw.get("session_id")
        if second is not None and first is not None and second != first:
            self.keep("session_id", second, "session_id differs from run_id; kept aside")
        found = second if first is None else first
        if isinstance(found, str):
            return found
        if found is None:
            name = f"run-{hashlib.sha256(data).hexdigest()[:12]}"
            self.remark("no-run-id", f"the file names no run; called {name} after its content")
            return name
        self.keep("run_id", found, f"run_id is {found!r:.60}, not text")
        return f"{found}"

    def agent(self) -> Agent:
        found = self.raw.get("agent")
        if found is None:
            return self.agent_of_run_record()
        try:
            agent = msgspec.convert(found, Agent)
        except msgspec.ValidationError as error:
            self.keep("agent", found, f"the agent could not be read ({error}); kept aside")
            return Agent()
        if not set(found) <= set(Agent.__struct_fields__):
            self.extra["agent"] = found
        return agent

    def agent_of_run_record(self) -> Agent:
        found = self.extra.get("metadata")
        if not is_object(found):
            return Agent()
        name, framework = found.get("agent_id"), found.get("framework")
        return Agent(
            name=name if isinstance(name, str) else None,
            framework=framework if isinstance(framework, str) else None,
        )

    def trace_ids(self) -> tuple[str, ...]:
        found = self.raw.get("trace_ids")
        if found is None:
            return ()
        try:
            return tuple(msgspec.convert(found, list[str]))
        except msgspec.ValidationError as error:
            self.keep("trace_ids", found, f"trace_ids could not be read ({error}); kept aside")
            return ()

    def continues(self) -> str | None:
        found = self.raw.get("continues")
        if found is None or isinstance(found, str):
            return found
        self.keep("continues", found, f"continues is {found!r:.60}, not text; kept aside")
        return None

    def notes(self) -> tuple[Note, ...]:
        found = self.raw.get("notes")
        if found is None:
            return ()
        try:
            return tuple(msgspec.convert(found, list[Note]))
        except msgspec.ValidationError as error:
            self.keep("notes", found, f"the notes could not be read ({error}); kept aside")
            return ()

    def keep(self, name: str, value: Json, message: str) -> None:
        self.extra[name] = value
        self.remark("bad-value", message)

    def remark(self, code: str, message: str) -> None:
        self.remarks.append((code, message))
