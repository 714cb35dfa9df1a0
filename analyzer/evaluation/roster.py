"""Which agents are known, and how did their runs go?"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from analyzer.evaluation.frozen import FrozenDict, document, freeze
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.result import BenchmarkResult
from analyzer.evaluation.runs import as_record
from analyzer.lenient import as_mapping, as_optional_text, as_text

__all__ = ["PROCESS", "AgentProfile", "MemoryRoster", "Roster", "register_agent", "submit_run"]

_GENERAL = "general"


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """Who an agent is."""

    agent_id: str
    name: str = ""
    """The name people see; the agent's id unless another is given."""
    category: str = _GENERAL
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.agent_id)
        object.__setattr__(self, "metadata", freeze(as_mapping(self.metadata)))

    def to_dict(self) -> dict[str, Any]:
        """Return the four fields as a JSON-serialisable dict."""
        return document({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the profile of a dict; the name defaults to the id, the category to `general`."""
        found = as_mapping(payload)
        return cls(
            agent_id=as_text(found.get("agent_id", "")),
            name=as_optional_text(found.get("name")) or "",
            category=as_optional_text(found.get("category")) or _GENERAL,
            metadata=as_mapping(found.get("metadata")),
        )


class Roster(Protocol):
    """Where agents and their runs are kept: in memory, or in the history store."""

    def register(self, profile: AgentProfile) -> None:
        """Keep a profile in place of an earlier one of the same id."""
        ...

    def submit(self, record: EvaluationRecord) -> None:
        """Keep a run of the agent it names."""
        ...

    def knows(self, agent_id: str) -> bool:
        """Return whether an agent of that id is registered."""
        ...

    def profiles(self) -> list[AgentProfile]:
        """Return the agents in the order in which they were first registered."""
        ...

    def trust_scores(self) -> dict[str, list[int]]:
        """Return the trust scores of all runs by agent id."""
        ...


class MemoryRoster:
    """A roster that lives as long as the process."""

    def __init__(self) -> None:
        self._profiles: dict[str, AgentProfile] = {}
        self._scores: dict[str, list[int]] = {}

    def register(self, profile: AgentProfile) -> None:
        """Keep a profile in place of an earlier one of the same id."""
        self._profiles[profile.agent_id] = profile

    def submit(self, record: EvaluationRecord) -> None:
        """Keep a run of the agent it names."""
        self._scores.setdefault(record.agent_id, []).append(record.trust_score)

    def knows(self, agent_id: str) -> bool:
        """Return whether an agent of that id is registered."""
        return agent_id in self._profiles

    def profiles(self) -> list[AgentProfile]:
        """Return the agents in the order in which they were first registered."""
        return list(self._profiles.values())

    def trust_scores(self) -> dict[str, list[int]]:
        """Return the trust scores of all runs by agent id."""
        return {agent_id: list(scores) for agent_id, scores in self._scores.items()}


PROCESS = MemoryRoster()
"""What the documented functions share when they are given no roster."""


def register_agent(
    agent: AgentProfile | Mapping[str, Any] | str,
    name: str | None = None,
    category: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    *,
    roster: Roster | None = None,
) -> AgentProfile:
    """Keep an agent, given as its profile, the dict of one or its id, and return the profile.

    Raises:
        ValueError: the agent has no id.
    """
    profile = _profile(agent)
    profile = replace(
        profile,
        name=profile.name if name is None else name,
        category=profile.category if category is None else category,
        metadata=profile.metadata if metadata is None else metadata,
    )
    if not profile.agent_id.strip():
        raise ValueError(f"an agent needs an id, found {profile.agent_id!r}")
    (PROCESS if roster is None else roster).register(profile)
    return profile


def submit_run(agent_id: str, run: Any, *, roster: Roster | None = None) -> EvaluationRecord:
    """Keep a run for an agent's ranking and return it as a record of that agent.

    An agent nobody registered is registered, in the category that the run names.

    Raises:
        ValueError: the agent has no id.
    """
    kept = PROCESS if roster is None else roster
    if not kept.knows(agent_id):
        register_agent(agent_id, category=_category_of(run), roster=kept)
    record = replace(as_record(run), agent_id=agent_id)
    kept.submit(record)
    return record


def _profile(agent: AgentProfile | Mapping[str, Any] | str) -> AgentProfile:
    if isinstance(agent, AgentProfile):
        return agent
    return AgentProfile(agent) if isinstance(agent, str) else AgentProfile.from_dict(agent)


def _category_of(run: Any) -> str:
    if isinstance(run, BenchmarkResult):
        return run.agent_type
    found = as_mapping(run)
    return as_optional_text(found.get("category") or found.get("agent_type")) or _GENERAL
