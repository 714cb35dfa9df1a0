"""Which traces, or parts of one, are one run.

An explicit run id; else the conversation or session id of the root agent; else span links between agents' traces;
else the trace. `--group-by trace` and `--group-by conversation` override. What belongs to a run but carries no id
(an agent's setup, a host's health, a process) joins the run of its resource that is nearest in time.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from analyzer.session.model import Note, SpanRef
from critiqor_otel.reconstruct.chaining import chain_calls
from critiqor_otel.reconstruct.neighbours import Neighbours
from critiqor_otel.reconstruct.node import Trace
from critiqor_otel.reconstruct.ties import EVIDENCE
from critiqor_otel.reconstruct.twins import twins
from critiqor_otel.reconstruct.unit import Unit, units_of

__all__ = ["GroupBy", "Grouped", "Run", "group", "silent_runs"]


_NAMED_TRACES = 10  # of a conversation's other traces; each of them names others too


class GroupBy(StrEnum):
    """What makes a run, when the user says it."""

    TRACE = "trace"
    CONVERSATION = "conversation"


class Run(Struct, frozen=True):
    """The units of one run, in order of time."""

    run_id: str
    units: tuple[Unit, ...]
    notes: tuple[Note, ...] = ()
    """How its traces came together, where no id says it; which other runs are of the same conversation."""


class Grouped(Struct, frozen=True):
    """The runs in order of id, and the traces in which no agent speaks."""

    runs: tuple[Run, ...]
    silent: tuple[Unit, ...]
    notes: tuple[Note, ...] = ()
    """On runs whose traces may have come together by chance."""


def group(traces: Iterable[Trace], group_by: GroupBy | None) -> Grouped:
    """Make runs of traces."""
    units = [unit for trace in traces for unit in units_of(trace, by_trace=group_by is GroupBy.TRACE)]
    units.sort(key=lambda unit: unit.sort_key)
    bonds = _Bonds(units)
    derived: set[int] = set()
    if group_by is not GroupBy.TRACE:
        _join_equal_keys(units, bonds, ignore_run_ids=group_by is GroupBy.CONVERSATION)
        _join_linked(units, bonds)
        _join_scattered(units, bonds)
        _join_twins(units, bonds)
        for earlier, later in chain_calls([unit for unit in units if unit.key is None and not unit.has_agent]):
            bonds.join(earlier.index, later.index)
            derived.update((earlier.index, later.index))
    silent = _settle_silent(units, bonds)
    sets = _sets(units, bonds, left_out={unit.index for unit in silent})
    talks = _conversations(units) if group_by is GroupBy.TRACE else {}
    runs = _distinct([Run(_run_id(members), members, tuple(_notes(members, derived, talks))) for members in sets])
    return Grouped(tuple(runs), tuple(silent), tuple(note for run in runs for note in _joined_strangers(run)))


def silent_runs(units: Iterable[Unit]) -> list[Run]:
    """Return a run a trace for units in which no agent speaks: for who must keep all that was sent."""
    traces: dict[str, list[Unit]] = {}
    for unit in units:
        traces.setdefault(unit.trace_id, []).append(unit)
    note = Note(code="no-agent", message="no agent speaks in this trace")
    return [Run(trace_id, tuple(members), (note,)) for trace_id, members in sorted(traces.items())]


class _Bonds:
    """Disjoint sets of units; the earliest unit stands for its set."""

    def __init__(self, units: list[Unit]) -> None:
        for index, unit in enumerate(units):
            unit.index = index
        self._parent = list(range(len(units)))

    def find(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.find(one), self.find(other)))
        self._parent[second] = first


def _join_equal_keys(units: list[Unit], bonds: _Bonds, *, ignore_run_ids: bool) -> None:
    seen: dict[tuple[str, str], int] = {}
    for unit in units:
        if ignore_run_ids and unit.conversation is not None:
            unit.key = ("conversation", unit.conversation)
        if unit.key is not None:
            bonds.join(seen.setdefault(unit.key, unit.index), unit.index)


def _join_linked(units: list[Unit], bonds: _Bonds) -> None:
    """Join units without a key along the links of their spans."""
    links = [(unit, link) for unit in units for node in unit.nodes if node.span.links for link in node.span.links]
    homes = {node.ref: unit for unit in units if unit.known for node in unit.nodes} if links else {}
    for unit, link in links:
        home = homes.get(SpanRef(link.trace_id, link.span_id))
        if home is not None and (unit.key is None or home.key is None or unit.key == home.key):
            _join_if_compatible(unit, home, bonds)


def _join_if_compatible(unit: Unit, home: Unit, bonds: _Bonds) -> None:
    if unit.key is not None and home.key is None:
        home.key = unit.key
    elif unit.key is None:
        unit.key = home.key
    bonds.join(unit.index, home.index)


def _join_scattered(units: list[Unit], bonds: _Bonds) -> None:
    """Join units without a key that another unit of their resource and family encloses in time.

    Only for families that scatter one run over several traces and give no id (OpenClaw 2026.4).
    """
    open_units: dict[tuple[str, str], Unit] = {}
    for unit in units:
        if unit.key is not None or not unit.scattered:
            continue
        outer = open_units.get(unit.origin)
        if outer is not None and unit.end_ns <= outer.end_ns:
            bonds.join(outer.index, unit.index)
        else:
            open_units[unit.origin] = unit


def _join_twins(units: list[Unit], bonds: _Bonds) -> None:
    """Join traces whose lone model spans tell of one answer."""
    lone = [(node, unit) for unit in units for node in unit.nodes if node.span.parent_span_id is None]
    homes = {id(node): unit for node, unit in lone}
    for one, other in twins(node for node, _ in lone):
        unit, home = homes[id(other)], homes[id(one)]
        if unit.key is None or home.key is None or unit.key == home.key:
            _join_if_compatible(unit, home, bonds)


def _settle_silent(units: list[Unit], bonds: _Bonds) -> list[Unit]:
    """Give sets without evidence of their own to the nearest run of their resource; return the units of the others."""
    sets = [bonds.find(unit.index) for unit in units]
    speaking = {home for unit, home in zip(units, sets, strict=True) if unit.speaks}
    at_home: dict[str, list[Unit]] = {}
    for unit, home in zip(units, sets, strict=True):
        if home in speaking:
            at_home.setdefault(unit.service, []).append(unit)
    homes = {service: Neighbours(found) for service, found in at_home.items()}
    settled: set[int] = set()
    for unit, home in zip(units, sets, strict=True):
        near = homes.get(unit.service) if unit.known and home not in speaking and home not in settled else None
        if near is not None:
            settled.add(home)
            bonds.join(near.nearest(unit).index, unit.index)
    return [unit for unit, home in zip(units, sets, strict=True) if home not in speaking and home not in settled]


def _sets(units: list[Unit], bonds: _Bonds, *, left_out: set[int]) -> list[tuple[Unit, ...]]:
    sets: dict[int, list[Unit]] = {}
    for unit in units:
        if unit.index not in left_out:
            sets.setdefault(bonds.find(unit.index), []).append(unit)
    return [tuple(members) for members in sets.values()]


def _conversations(units: list[Unit]) -> dict[str, list[str]]:
    """Map each conversation to its traces, sorted."""
    traces: dict[str, list[str]] = {}
    for unit in units:
        if unit.conversation is not None:
            traces.setdefault(unit.conversation, []).append(unit.trace_id)
    return {conversation: sorted(trace_ids) for conversation, trace_ids in traces.items()}


def _notes(members: tuple[Unit, ...], derived: set[int], talks: dict[str, list[str]]) -> Iterator[Note]:
    if any(unit.index in derived for unit in members):
        message = f"{len(members)} traces without a common id were joined: their messages carry each other on"
        yield Note(code="joined-by-messages", message=message)
    for unit in members:
        traces = talks.get(unit.conversation or "", [])
        others = [trace_id for trace_id in traces[: _NAMED_TRACES + 1] if trace_id != unit.trace_id][:_NAMED_TRACES]
        if others:
            left = len(traces) - 1 - len(others)
            more = f" and {left} more" if left else ""
            message = f"conversation {unit.conversation} goes on in {', '.join(others)}{more}"
            yield Note(code="same-conversation", message=message)


def _joined_strangers(run: Run) -> Iterator[Note]:
    """Yield a note on a run in which one conversation id joined traces of several services or instrumentations.

    Ids such as `sess-42` are given by more than one program.
    """
    talking = [unit for unit in run.units if unit.conversation == run.run_id and unit.key is not None]
    traces = {unit.trace_id for unit in talking}
    if len(traces) < 2 or not (_differ(unit.service for unit in talking) or _share_nothing(talking)):  # noqa: PLR2004
        return
    joins = f"run {run.run_id} joins {len(traces)} traces by their conversation id"
    yield Note(code="joined-strangers", message=f"{joins}; --group-by trace keeps them apart")


def _differ(values: Iterable[str]) -> bool:
    return len(set(values)) > 1


def _share_nothing(units: Iterable[Unit]) -> bool:
    """Tell whether no instrumentation speaks in all of these units."""
    speaking = [{node.span.scope.name for node in unit.nodes if node.role in EVIDENCE} for unit in units]
    return not speaking[0].intersection(*speaking[1:])


def _run_id(members: tuple[Unit, ...]) -> str:
    keyed = sorted(unit.key for unit in members if unit.key is not None)
    if keyed:
        return keyed[-1][1]  # a run id ("run") sorts after a conversation id and wins
    spoken = [unit for unit in members if unit.speaks] or list(members)
    return min(spoken, key=lambda unit: unit.sort_key).trace_id


def _distinct(runs: list[Run]) -> list[Run]:
    """Order runs by id; two runs of one id (parts of one trace) are told apart by a number."""
    runs.sort(key=lambda run: (run.run_id, run.units[0].sort_key))
    taken = {run.run_id for run in runs}
    counts: dict[str, int] = {}
    named: list[Run] = []
    for run in runs:
        name, number = run.run_id, counts.get(run.run_id, 0) + 1
        while number > 1 and (name := f"{run.run_id}.{number}") in taken:
            number += 1
        counts[run.run_id] = number
        named.append(run if number == 1 else Run(name, run.units, run.notes))
    return sorted(named, key=lambda run: run.run_id)
