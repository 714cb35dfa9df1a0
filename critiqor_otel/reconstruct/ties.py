"""What ties a trace to other traces, told span by span, so that it can be gathered anywhere and added up.

Ties never decide what is one run; they say which traces have to be looked at together to decide it (`clusters`). What
is told twice, in whatever order and however divided, adds up to the same.
"""

import hashlib
from collections.abc import Iterable, Iterator

from msgspec import Struct

from analyzer.remembered import remembered
from critiqor_otel.conventions.carriage import CARRIED, SESSION, UNFINISHED, carried_session
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.registry import SCATTERED
from critiqor_otel.span import Span

__all__ = [
    "EVIDENCE",
    "Ties",
    "add_ties",
    "digest",
    "gathered",
    "name_of_session",
    "names_of",
    "names_run",
    "origin_of",
    "rank",
    "service_of",
    "ties_of_session",
    "told_times",
]

EVIDENCE = frozenset(SpanRole) - {
    SpanRole.OTHER,
    SpanRole.HEALTH,
    SpanRole.SETUP,
    SpanRole.PROCESS,
    SpanRole.MESSAGE,
    SpanRole.EMBEDDING,
    SpanRole.TURN,
}
"""Roles that show an agent at work; a trace with none of them tells of no run."""

_REMEMBERED = 1 << 14  # digests kept: names repeat on the spans of a run


class Ties(Struct, array_like=True):
    """What is known of one trace; grows while its spans are told. Digests are of 8 bytes."""

    trace_id: str
    speaks: bool = False
    """Some span shows an agent at work."""
    known: bool = False
    """Some span is of a known family."""
    agent: bool = False
    """Some span is an agent's."""
    named: bool = False
    """Some span names a run or a conversation."""
    models: bool = False
    """Some span is a model call."""
    scattered: bool = False
    """Some span is of a family that scatters a run over traces."""
    start_ns: int = 0
    end_ns: int = 0
    """The earliest and the latest time that a span tells; 0 where none does."""
    first: tuple[bool, int, int, str] | None = None
    """The rank of the trace's first span, which lends the trace its service and its origin."""
    service: int = 0
    """Digest of the service's name; 0 for what is no trace."""
    origin: int = 0
    """Digest of resource and scope."""
    keys: set[int] = set()
    """Digests of the names that this trace shares with whatever bears them too."""
    numbered: set[int] = set()
    """Digests of names without the number at their end: a name of that form must not be given to another run."""

    def add(self, other: "Ties") -> None:
        """Add what is known of the same trace from elsewhere."""
        self.speaks |= other.speaks
        self.known |= other.known
        self.agent |= other.agent
        self.named |= other.named
        self.models |= other.models
        self.scattered |= other.scattered
        self.start_ns = min(filter(None, (self.start_ns, other.start_ns)), default=0)
        self.end_ns = max(self.end_ns, other.end_ns)
        if other.first is not None and (self.first is None or other.first < self.first):
            self.first, self.service, self.origin = other.first, other.service, other.origin
        self.keys |= other.keys
        self.numbered |= other.numbered


def add_ties(ties: dict[str, Ties], span: Span, facts: Facts) -> None:
    """Tell what a span says of its trace's ties."""
    found = ties.get(span.trace_id)
    if found is None:
        found = ties[span.trace_id] = Ties(span.trace_id)
    if not found.speaks and facts.role in EVIDENCE:
        found.speaks = True
    if facts.family is not None:
        _add_family(found, facts)
    start, end = told_times(span)
    if start and (start < found.start_ns or not found.start_ns):
        found.start_ns = start
    found.end_ns = max(found.end_ns, end)
    first = found.first
    if first is None or (span.parent_span_id is not None, start) <= first[:2]:
        _add_first(found, span)
    if span.links:
        found.keys.update(digest("name", link.trace_id) for link in span.links if link.trace_id != span.trace_id)


def _add_first(found: Ties, span: Span) -> None:
    ranked = rank(span)
    if found.first is None or ranked < found.first:
        found.first, found.service = ranked, digest("service", service_of(span))
        found.origin = _origin_digest(span)


def _add_family(found: Ties, facts: Facts) -> None:
    found.known = True
    if facts.family in SCATTERED:
        found.scattered = True
    role, span = facts.role, facts.span
    if role is _AGENT:
        found.agent = True
    elif role is _MODEL:
        found.models = True
        if span.parent_span_id is None and (answer := facts.get(Field.RESPONSE_ID)) is not None:
            found.keys.add(digest("answer", answer))
    for name in names_of(facts):
        found.named = True
        _add_name(found, name)
    if SESSION in span.attributes:
        for name in _carried_names(span):
            _add_name(found, name)


_AGENT, _MODEL = SpanRole.AGENT, SpanRole.MODEL
_RUN, _TALK = Field.RUN_ID, Field.SESSION_ID


def names_of(facts: Facts) -> list[str]:
    """Return the run id and the conversation id that a span names."""
    run_id, conversation = facts.get(_RUN), facts.get(_TALK)
    names: list[str] = [] if run_id is None or not names_run(facts.span, run_id) else [run_id]
    if conversation is not None:
        names.append(conversation)
    return names


def names_run(span: Span, run_id: str) -> bool:
    """Tell whether a run id says more than the trace: the processor writes the trace's own id where nobody names a run.

    On a span that brings its events it is the run's name in any case.
    """
    return run_id != span.trace_id or not CARRIED.isdisjoint(span.attributes)


def _carried_names(span: Span) -> Iterator[str]:
    head = carried_session(span) or {}
    yield from (name for key in ("run_id", "continues") if isinstance(name := head.get(key), str))


def name_of_session(run_id: str) -> str:
    """Return the name under which a session file stands among traces."""
    return f"session {run_id}".encode("utf-8", "backslashreplace").decode()


def ties_of_session(run_id: str, continues: str | None) -> Ties:
    """Return the ties of a session file: it belongs with what bears its name, and the name of what it carries on."""
    found = Ties(name_of_session(run_id))
    for name in filter(None, (run_id, continues)):
        _add_name(found, name)
    return found


def _add_name(found: Ties, name: str) -> None:
    key, numbered = _keys(name)
    found.keys.add(key)
    if numbered is not None:
        found.numbered.add(numbered)


@remembered(_REMEMBERED)
def _keys(name: str) -> tuple[int, int | None]:
    """Return the digest of a name, and that of the name before its number."""
    stem, dot, number = name.rpartition(".")
    return digest("name", name), digest("name", stem) if dot and number.isdecimal() else None


def digest(kind: str, name: str) -> int:
    """Return the digest of a name; those of different kinds do not meet."""
    return _digest(f"{kind}\0{name}")


@remembered(_REMEMBERED)
def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def told_times(span: Span) -> tuple[int, int]:
    """Return when a span began and ended by its own word, in order; a time it does not tell is the other one, or 0."""
    start = span.start_ns
    # A span that the end of its process cut off has an end and is unfinished all the same.
    end = 0 if UNFINISHED in span.attributes else span.end_ns
    if 0 < start <= end:
        return start, end
    if not start or not end:
        return start or end, end or start
    return end, start


def rank(span: Span) -> tuple[bool, int, int, str]:
    """Return the place of a span among those that may stand for their trace: without a parent first, then by time."""
    start, end = told_times(span)
    return span.parent_span_id is not None, start, end, span.span_id


def service_of(span: Span) -> str:
    """Return the service's name as text that tells apart what it is made of."""
    return repr(span.resource.attributes.get("service.name"))


def origin_of(span: Span) -> tuple[str, str]:
    """Return what wrote a span: its resource as text, and its scope's name."""
    return repr(sorted(span.resource.attributes.items(), key=repr)), span.scope.name


def _origin_digest(span: Span) -> int:
    return digest("origin", "\0".join(origin_of(span)))


def gathered(ties: Iterable[Ties]) -> dict[str, Ties]:
    """Return the ties by trace, added up."""
    found: dict[str, Ties] = {}
    for one in ties:
        known = found.setdefault(one.trace_id, one)
        if known is not one:
            known.add(one)
    return found
