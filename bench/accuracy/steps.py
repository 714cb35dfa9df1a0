"""How often is the step that the analyzer names the one that people named?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from labelled import Labelled

from analyzer.diagnosis import Diagnosis, diagnose

__all__ = ["BASELINES", "Guess", "guess", "rates"]

_NEAR = (0, 1, 3)


class Guess(NamedTuple):
    """The steps that the analyzer names for one run, the first the likeliest; empty: none."""

    run: Labelled
    ranked: Sequence[int]
    agent: str
    why: str

    @property
    def step(self) -> int | None:
        """The likeliest step."""
        return self.ranked[0] if self.ranked else None


def guess(run: Labelled) -> Guess:
    """Return what the analyzer says of a run."""
    diagnosis = diagnose(run.session)
    place = {event.event_id: event.payload["step"] for event in run.session.events}
    ranked = list(dict.fromkeys(place[event_id] for event_id in _named(diagnosis) if event_id in place))
    return Guess(run, ranked, _speaker(run, ranked), _why(diagnosis))


def _named(diagnosis: Diagnosis) -> Iterator[str]:
    for candidate in diagnosis.roots.candidates:
        yield candidate.event_id


def _why(diagnosis: Diagnosis) -> str:
    primary = diagnosis.roots.primary
    return "" if primary is None else ", ".join(primary.signs)


def _speaker(run: Labelled, ranked: Sequence[int]) -> str:
    return run.steps[ranked[0] - run.first].speaker if ranked else ""


def rates(guesses: Sequence[Guess]) -> Mapping[str, float]:
    """Return the shares of runs whose step is right (exact, within one, three), whose agent is."""
    count = len(guesses) or 1
    near = {
        f"±{far}" if far else "exact": sum(
            found.step is not None and abs(found.step - found.run.step) <= far for found in guesses
        )
        for far in _NEAR
    }
    hits = {
        **near,
        "agent": sum(found.agent.lower() == found.run.agent.lower() for found in guesses),
        "first three": sum(found.run.step in found.ranked[:3] for found in guesses),
    }
    return {name: hit / count for name, hit in hits.items()}


def _first(run: Labelled) -> int:
    return run.first


def _first_code(run: Labelled) -> int:
    return next((place for place, step in enumerate(run.steps, run.first) if step.code), run.first)


def _last(run: Labelled) -> int:
    return run.first + len(run.steps) - 1


BASELINES: Mapping[str, Callable[[Labelled], int]] = {
    "first step": _first,
    "first step with code or a call": _first_code,
    "last step": _last,
}
