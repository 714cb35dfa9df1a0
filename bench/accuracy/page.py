"""What does docs/accuracy.md say?"""

from collections.abc import Mapping, Sequence

from failure_types import TypeRates
from labelled import Labelled
from steps import BASELINES, Guess, rates

__all__ = ["page"]

# Whole sets, by systems that ask a model or were trained: papers of Who&When (ICML 2025) and AgentRx (2026).
_PUBLISHED: Mapping[str, str] = {
    "algorithm_generated": "51.6 %",
    "hand_crafted": "22.4 %",
    "agentrx_tau_retail": "54.0 %",
}
"""By the name of a folder."""

_HEAD = """# How right it is

Made by `python bench/accuracy DATA --write docs/accuracy.md`, where DATA holds labelled runs of other people: they are
not part of this project. No model is asked anywhere, so a run costs milliseconds and no token.

## The first decisive step

Runs that are known to have failed, with the step at which people say that they were lost. The analyzer is told that the
run failed (the run record's status) and nothing else of the label; `roots.primary` is what it names.

| runs | number | exact | ±1 | ±3 | agent | among three | {baselines} | published |
|---|--:|--:|--:|--:|--:|--:|{rule}--:|"""

_MIDDLE = """
*Published* is the step accuracy of the best systems that ask a model or were trained, on the whole sets (about three
times as many runs). *First step with code or a call* costs nothing and is hard to beat: on the whole of the
algorithm-generated half the first step with code alone is right in 44.4 %.

How far these figures carry: signs and their weights were chosen by reading these very runs, so runs that nobody looked
at will come out lower. The weights are few and round ([roots.md](roots.md)), and not much hangs on any of them: with
all weights changed at random by up to 30 %, six times, the algorithm-generated half gave 51 to 56 %, the hand-crafted
one 37 to 47 %, the third set 77 to 85 %; without any one sign no set lost more than three runs. Weights fitted anew
with each run left out, of signs of this kind, gave 42 to 47 % on the algorithm-generated half. People who label such
runs do not agree either: what one calls the decisive step another calls its consequence.

## Failure types

*Cases* are runs known to show the type, *judged* all of which it is known whether they do: captures of real frameworks
driven by a script, and the golden cases of the detectors, which were written with the detectors: they show that nothing
broke, not how the types do in the wild. Of a capture severity medium and above counts. Clean runs: {clean} captures.

| type | cases | judged | precision | recall | F1 | false alarms per 100 clean runs |
|---|--:|--:|--:|--:|--:|--:|"""


def page(groups: Mapping[str, Sequence[Guess]], types: Sequence[TypeRates], clean: int) -> str:
    """Return the page as Markdown."""
    head = _HEAD.format(baselines=" | ".join(BASELINES), rule="--:|" * len(BASELINES))
    steps = [_steps_row(name, guesses) for name, guesses in groups.items()]
    return "\n".join((head, *steps, _MIDDLE.format(clean=clean), *map(_type_row, types), ""))


def _steps_row(name: str, guesses: Sequence[Guess]) -> str:
    shares = rates(guesses)
    cells = [name, str(len(guesses)), *(_percent(shares[what]) for what in shares)]
    cells += [_percent(_hit_rate(guesses, baseline)) for baseline in BASELINES]
    return _row((*cells, _PUBLISHED.get(name.rpartition("/")[2], "-")))


def _hit_rate(guesses: Sequence[Guess], baseline: str) -> float:
    return sum(_is_hit(one.run, baseline) for one in guesses) / len(guesses)


def _is_hit(run: Labelled, baseline: str) -> bool:
    return BASELINES[baseline](run) == run.step


def _type_row(found: TypeRates) -> str:
    shares = (found.precision, found.recall, found.f1)
    cells = (f"`{found.type}`", str(found.cases), str(found.judged), *(_number(share) for share in shares))
    return _row((*cells, f"{found.false_alarms:.0f}"))


def _number(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
