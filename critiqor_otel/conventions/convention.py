"""What a convention table is made of: roles, fields, and the cells that say where a fact stands on a span.

A family of attribute names is one `Convention`: data, no code. `facts.py` reads spans through the tables.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from analyzer.session.shapes import is_object
from critiqor_otel.conventions.remedies import Aspect, Library, Remedies
from critiqor_otel.conventions.signs import Signs
from critiqor_otel.span import Span

__all__ = [
    "At",
    "BadValueError",
    "Cell",
    "Convention",
    "Everywhere",
    "Field",
    "FromEvent",
    "FromResource",
    "Salvaged",
    "Shape",
    "SpanRole",
    "When",
    "as_is",
]

Shape = Callable[[Any], Any]
"""A small pure function: an attribute's value in, the fact out; None when it says nothing (an empty string).

Raises BadValueError for a value of a wrong type."""


class BadValueError(ValueError):
    """An attribute holds something its field cannot be; read as absent, with a note."""


class Salvaged(Struct, frozen=True):
    """What a cell could still read of a damaged value; the fact is the value, and the message becomes a note."""

    value: Any
    message: str


class SpanRole(StrEnum):
    """What a span is in an agent's run."""

    AGENT = "agent"
    """A run or a sub-agent's run; a workflow."""
    TURN = "turn"
    """A step, cycle, chain or graph node inside an agent."""
    MODEL = "model"
    """A generation request to a model."""
    EMBEDDING = "embedding"
    TOOL = "tool"
    """One attempt of one tool call."""
    MEMORY = "memory"
    """Search, get, store in the agent's memory."""
    RETRIEVER = "retriever"
    """A look-up in documents; evidence like a memory search."""
    SKILL = "skill"
    DECISION = "decision"
    EVALUATION = "evaluation"
    USAGE = "usage"
    """Reports tokens and is no model call."""
    CONTEXT = "context"
    RETRY = "retry"
    PROCESS = "process"
    """An operating-system process that a tool started."""
    MESSAGE = "message"
    SETUP = "setup"
    """Made ready, not run: create_agent. Opens no session."""
    HEALTH = "health"
    """Of the host, not of the agent: its errors are no failures of the run."""
    OTHER = "other"
    """Known to the family, and nothing of the above: transport, hooks, waiting for the user."""


class Field(StrEnum):
    """A fact that a span can hold; the comment gives its type after its shape."""

    RUN_ID = "run_id"  # str: the session's id as critiqor's own processor set it
    SESSION_ID = "session_id"  # str: conversation or session id
    AGENT_NAME = "agent_name"  # str
    AGENT_VERSION = "agent_version"  # str
    INPUT = "input"  # JSON: what an agent, a turn or a retriever was asked
    OUTPUT = "output"  # JSON: what it answered
    MODEL = "model"  # str
    PROVIDER = "provider"  # str
    RESPONSE_ID = "response_id"  # str: the provider's name for an answer
    INPUT_TOKENS = "input_tokens"  # int, cached input included
    UNCACHED_INPUT_TOKENS = "uncached_input_tokens"  # int, for families that report input without the cached part
    OUTPUT_TOKENS = "output_tokens"  # int
    TOTAL_TOKENS = "total_tokens"  # int
    CACHED_INPUT_TOKENS = "cached_input_tokens"  # int, read from a cache
    CACHE_WRITE_TOKENS = "cache_write_tokens"  # int
    REASONING_TOKENS = "reasoning_tokens"  # int, part of the output
    COST = "cost"  # float, US dollars
    FINISH_REASONS = "finish_reasons"  # list[str]
    MAX_TOKENS = "max_tokens"  # int
    SYSTEM_INSTRUCTIONS = "system_instructions"  # str
    INPUT_MESSAGES = "input_messages"  # list[Message]: the whole history the model was sent
    OUTPUT_MESSAGES = "output_messages"  # list[Message]: what the model answered
    TOOL_DEFINITIONS = "tool_definitions"  # list[{name, description?, parameters?}]
    TOOL_NAME = "tool_name"  # str
    TOOL_CALL_ID = "tool_call_id"  # str
    TOOL_ARGUMENTS = "tool_arguments"  # JSON, unwrapped to what the tool received
    TOOL_RESULT = "tool_result"  # JSON, unwrapped to what the tool gave back
    ERROR_TYPE = "error_type"  # str
    ERROR_MESSAGE = "error_message"  # str
    FAILED = "failed"  # bool: the family's own word on success, True for a failure
    EXIT_CODE = "exit_code"  # int
    ATTEMPT = "attempt"  # int
    MEMORY_OPERATION = "memory_operation"  # str: search, get, create, update, delete
    QUERY = "query"  # str: of a memory search or retrieval
    RECORDS = "records"  # list: what the look-up found
    RECORD_COUNT = "record_count"  # int
    STORE = "store"  # str: the memory store or data source
    SKILL_NAME = "skill_name"  # str
    SKILL_RESOURCE = "skill_resource"  # str
    CONTEXT_COMPACTED = "context_compacted"  # bool
    CONTEXT_WINDOW = "context_window"  # int, tokens
    CONTEXT_USED = "context_used"  # int, tokens
    DURATION_MS = "duration_ms"  # float, for records that are no spans
    EVALUATION_NAME = "evaluation_name"  # str
    EVALUATION_SCORE = "evaluation_score"  # float
    EVALUATION_LABEL = "evaluation_label"  # str
    REASON = "reason"  # str: why a retry, a decision, a compaction
    COMMAND = "command"  # str: of a process
    MESSAGE_ID = "message_id"  # str: a report that several spans repeat; the first one counts
    CARRIED_IN_PART = (
        "carried_in_part"  # list[str]: facts this instrumentation leaves out in part, in `missing`'s words
    )
    TRANSCRIPT = "transcript"  # list[Message]: an agent's whole conversation, for where no model call shows it
    INPUT_FINGERPRINT = "input_fingerprint"  # str: keyed, of arguments that were not captured
    INPUT_PARTS = "input_parts"  # list[str]: keyed fingerprints of their words and numbers
    RESULT_FINGERPRINT = "result_fingerprint"  # str: keyed, of a result that was not captured
    RESULT_PARTS = "result_parts"  # list[str]: as INPUT_PARTS
    MESSAGE_PARTS = "message_parts"  # list[str]: as INPUT_PARTS, of what a model said
    PROMPT_PARTS = "prompt_parts"  # list[str]: of what a user and the instructions said to it, so far
    EVENT = "event"  # list[Carried]: a session's events as critiqor's own emitters wrote them


class Cell(Protocol):
    """A place where a fact can stand on a span."""

    def read(self, span: Span) -> Any:
        """Return the fact, or None where this place is empty.

        Raises:
            BadValueError: the place holds something else.
        """
        ...


def as_is(value: Any) -> Any:
    """The shape that changes nothing."""
    return value


class At(Struct, frozen=True):
    """An attribute of the span."""

    key: str
    shape: Shape = as_is

    def read(self, span: Span) -> Any:
        """Return the attribute in its shape, or None when the span has none."""
        value = span.attributes.get(self.key)
        return None if value is None else self.shape(value)


class FromResource(Struct, frozen=True):
    """An attribute of the resource."""

    key: str
    shape: Shape = as_is

    def read(self, span: Span) -> Any:
        """Return the resource's attribute in its shape, or None when it has none."""
        value = span.resource.attributes.get(self.key)
        return None if value is None else self.shape(value)


class FromEvent(Struct, frozen=True):
    """An attribute of the first span event of a name that has it, or a key of that event's body (log records)."""

    event: str
    key: str
    shape: Shape = as_is

    def read(self, span: Span) -> Any:
        """Return the event's attribute in its shape, or None when no such event has it."""
        for event in span.events:
            if event.name != self.event:
                continue
            value = event.attributes.get(self.key)
            if value is None and is_object(body := event.attributes.get("body")):
                value = body.get(self.key)
            if value is not None:
                return self.shape(value)
        return None


class Everywhere(Struct, frozen=True):
    """The span as a whole: for facts spread over many keys (`llm.input_messages.0…`), its events or its name."""

    shape: Callable[[Span], Any]
    of_events: bool = False
    """It looks at the span's events and at nothing else."""
    starts: tuple[str, ...] = ()
    """How the attributes begin that it looks at, where it is empty without any of them."""

    def read(self, span: Span) -> Any:
        """Return what the shape makes of the span."""
        return self.shape(span)


class When(Struct, frozen=True):
    """A place that holds the fact only on spans of some kinds: `input.value` is a tool's arguments on a tool span."""

    key: str
    words: frozenset[str]
    cell: Cell

    def read(self, span: Span) -> Any:
        """Return what the place holds, or None on spans of another kind."""
        word = span.attributes.get(self.key)
        return self.cell.read(span) if isinstance(word, str) and word in self.words else None


def _none() -> Mapping[str, SpanRole]:
    return {}


def _nothing() -> Remedies:
    return {}


class Convention(Struct, frozen=True, kw_only=True):
    """One family of attribute names.

    A span is of the family when `kind_key` holds one of `kinds`, or its name is one of `names`, or `recognise` says
    so; they are asked in that order. Only families that recognise a span contribute facts to it.
    """

    name: str
    source: str
    """Where the names are written down: an address."""
    known_by: str = ""
    """What tells its spans from others, in words, for a reader."""
    kind_key: str | None = None
    kinds: Mapping[str, SpanRole] = field(default_factory=_none)
    names: Mapping[str, SpanRole] = field(default_factory=_none)
    recognise: Callable[[Span], SpanRole | None] | None = None
    signs: Signs | None = None
    """What every span of the family has; None: the family must be asked about each span."""
    fields: Mapping[Field, tuple[Cell, ...]]
    """The places of each fact, the newest name first."""
    remedies: Remedies = field(default_factory=_nothing)
    """What to switch on to get what its spans can lack."""
    libraries: tuple[Library, ...] = ()
    """Those of the libraries that write these names whose switches are others."""

    def library(self, scope: str) -> Library | None:
        """Return the library that a scope of this family is known to belong to."""
        return next((library for library in self.libraries if library.wrote(scope)), None)

    def remedy(self, aspect: Aspect, scope: str) -> str | None:
        """Return what to switch on for something that spans of this scope lack, or None where nothing is known."""
        library = self.library(scope)
        own = None if library is None else library.remedies.get(aspect)
        return own or self.remedies.get(aspect)

    def role_of(self, span: Span) -> SpanRole | None:
        """Return what the span is in this family's words, or None when it does not speak of it."""
        if (role := self._role_of_kind(span)) is not None or (role := self.names.get(span.name)) is not None:
            return role
        return self.recognise(span) if self.recognise is not None else None

    def names_kind_of(self, span: Span) -> bool:
        """Tell whether the span's kind alone says what it is."""
        return self._role_of_kind(span) is not None

    def _role_of_kind(self, span: Span) -> SpanRole | None:
        kind = None if self.kind_key is None else span.attributes.get(self.kind_key)
        return self.kinds.get(kind) if isinstance(kind, str) else None
