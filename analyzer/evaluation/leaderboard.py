"""Which agents of a category have earned the most trust?"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from analyzer.evaluation.frozen import FrozenList, document
from analyzer.evaluation.roster import PROCESS, Roster
from analyzer.evaluation.runs import mean
from analyzer.lenient import as_mapping, as_sequence, as_text, as_whole

__all__ = ["Leaderboard", "LeaderboardEntry", "generate_leaderboard", "normal_category"]

_GENERAL = "general"

# Other names of a category (specification §6).
_ALIASES = {
    "coding_agents": "coding",
    "research_agents": "research",
    "support": "customer_support",
    "support_agents": "customer_support",
    "customer_support_agents": "customer_support",
    "general_agents": _GENERAL,
    "general_purpose_agents": _GENERAL,
}


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """One agent's place."""

    rank: int
    agent_id: str
    trust_score: int
    """Average over the agent's runs."""
    percentile: int
    """Share of the ranked agents that scored no more."""
    name: str = ""
    category: str = _GENERAL
    run_count: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the seven fields as a JSON-serialisable dict."""
        return document({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the entry of a dict; what can't be read is zero or empty."""
        found = as_mapping(payload)
        return cls(
            rank=as_whole(found.get("rank")),
            agent_id=as_text(found.get("agent_id", "")),
            trust_score=as_whole(found.get("trust_score")),
            percentile=as_whole(found.get("percentile")),
            name=as_text(found.get("name", "")),
            category=as_text(found.get("category", _GENERAL)),
            run_count=as_whole(found.get("run_count")),
        )


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The agents of a category, the best first."""

    category: str
    """As it was asked for."""
    rankings: Sequence[LeaderboardEntry] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rankings", FrozenList(self.rankings))

    def to_dict(self) -> dict[str, Any]:
        """Return the category and its entries as a JSON-serialisable dict."""
        return document({"category": self.category, "rankings": self.rankings})

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the leaderboard of a dict."""
        found = as_mapping(payload)
        return cls(
            category=as_text(found.get("category", _GENERAL)),
            rankings=tuple(map(LeaderboardEntry.from_dict, as_sequence(found.get("rankings")))),
        )


def generate_leaderboard(category: str = _GENERAL, *, roster: Roster | None = None) -> Leaderboard:
    """Return the agents of a category that have runs, the best average first, earlier registered first among equals."""
    kept = PROCESS if roster is None else roster
    scores = kept.trust_scores()
    wanted = normal_category(category)
    ranked = sorted(
        (
            (mean(scores[profile.agent_id]), profile)
            for profile in kept.profiles()
            if normal_category(profile.category) == wanted and scores.get(profile.agent_id)
        ),
        key=lambda pair: -pair[0],
    )
    averages = sorted(average for average, _ in ranked)
    return Leaderboard(
        category,
        [
            LeaderboardEntry(
                rank=rank,
                agent_id=profile.agent_id,
                trust_score=average,
                percentile=round(100 * bisect_right(averages, average) / len(averages)),
                name=profile.name,
                category=profile.category,
                run_count=len(scores[profile.agent_id]),
            )
            for rank, (average, profile) in enumerate(ranked, 1)
        ],
    )


def normal_category(category: str) -> str:
    """Return the one name of a category: lower case, underscores, aliases resolved."""
    name = category.strip().lower().replace("-", "_").replace(" ", "_")
    return _ALIASES.get(name, name)
