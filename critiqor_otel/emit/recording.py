"""One recording under way: what was seen goes into the ledger, and to the spans where somebody takes them."""

from collections.abc import Mapping
from typing import Any

from opentelemetry.trace import Span

from analyzer.evaluation.frozen import freeze
from analyzer.session.model import Agent, Event, Session
from critiqor_otel.emit.ledger import Ledger, error_text, is_told, mark_told
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.emit.records import Record
from critiqor_otel.emit.told_spans import ToldSpans

__all__ = ["Recording"]


class Recording:
    """The run's identity, its ledger and its spans; begun by the first record at the latest."""

    def __init__(self, run_id: str, agent: Agent, options: RecordingOptions, *, is_inner: bool) -> None:
        """Take who runs; an inner recording is that of a sub-agent."""
        self.run_id = run_id
        self.agent = agent
        self.options = options
        self.ledger = Ledger()
        self.spans = ToldSpans(run_id, agent, options)
        self._is_inner = is_inner
        self._is_begun = False
        self.is_closed = False

    def begin(self, prompt: str) -> None:
        """Record the start of the run, once."""
        with self.ledger.lock:
            if self._is_begun:
                return
            self._is_begun = True
            facts = {"agent": self.agent.name, "input": prompt or None, "sub_agent": self._is_inner or None}
            record = self._made("agent_start", {}, payload=facts)
            self.spans.begin(self._event(record, self.ledger.add(record)))

    def record(self, name: str, facts: Mapping[str, Any], **told: Any) -> Span | None:
        """Record something under its trace name and return the span that it started, when it started one.

        `told` are fields of the session's event where they differ: `event_type`, `payload`, `tool_name`, `status`, …
        """
        self.begin("")
        record = self._made(name, facts, **told)
        sequence = self.ledger.add(record)
        if not self.spans.is_live:
            return None
        return self.spans.tell(self._event(record, sequence), sequence)

    def exception(self, error: BaseException) -> None:
        """Record an exception that ends the run; one that another recording of the run told is no second event."""
        text = error_text(error)
        with self.ledger.lock:
            self.ledger.errors.append(text)
        kind = type(error).__qualname__
        if is_told(error):
            self.ledger.add(self._made("error", {"error": text}, payload={"error_type": kind, "message": text}))
        else:
            self.record("error", {"error": text}, payload={"error_type": kind, "message": text}, error=text)
        mark_told(error, self.ledger)

    def close(self, error: str | None, response: str) -> None:
        """Record the end of the run, once."""
        self.begin("")
        with self.ledger.lock:
            if self.is_closed:
                return
            self.is_closed = True
            facts = {"agent": self.agent.name, "output": response or None}
            status = "ok" if error is None else "error"
            record = self._made("agent_finish", {}, event_type="agent_end", payload=facts, status=status, error=error)
            sequence = self.ledger.add(record)
        if self.spans.is_live:
            head = {"run_id": self.run_id, "agent": {"name": self.agent.name}, "events": sequence + 1}
            self.spans.end(self._event(record, sequence), sequence, head, failed=error is not None)

    def session(self) -> Session:
        """Return the records so far as a session, content and all."""
        with self.ledger.lock:
            records = list(self.ledger.records)
        events = tuple(self._event(record, place) for place, record in enumerate(records))
        return Session(run_id=self.run_id, events=events, agent=self.agent)

    def _made(self, name: str, facts: Mapping[str, Any], **told: Any) -> Record:
        fields: dict[str, Any] = dict(told)
        fields.setdefault("time_ns", self.options.now_ns())
        fields.setdefault("event_type", name)
        fields["payload"] = freeze(told["payload"])
        return Record(name=name, trace=freeze(facts), **fields)

    def _event(self, record: Record, sequence: int) -> Event:
        return record.event(f"{self.spans.stream}:{sequence}")
