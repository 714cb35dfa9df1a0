"""Which steps of a very long run are shown one by one; the others are counted, step by step of what they lie in."""

from collections import Counter

from analyzer.report.html.steps import RunStep, StepKind

__all__ = ["fold"]

_NAMED = 3  # kinds that the name of a folded step tells


def fold(steps: list[RunStep], evidence: set[int], limit: int) -> tuple[list[RunStep], int]:
    """Return at most about `limit` steps and how many others are only counted.

    What failed, what was tried again and what a failure points to (`evidence`: positions of events) always stays, with
    all it lies in; of the rest the earliest.
    """
    if len(steps) <= limit:
        return steps, 0
    kept = _kept(steps, evidence, limit)
    return _Folding(steps, kept).run(), len(steps) - sum(kept)


def _kept(steps: list[RunStep], evidence: set[int], limit: int) -> list[bool]:
    kept = [False] * len(steps)
    left = limit
    telling = (number for number, step in enumerate(steps) if _tells(step, evidence))
    for numbers in (telling, range(len(steps))):
        for number in numbers:
            if left <= 0:
                break
            at = number
            while at >= 0 and not kept[at]:
                kept[at] = True
                left -= 1
                at = steps[at].parent
    return kept


def _tells(step: RunStep, evidence: set[int]) -> bool:
    return step.failed or step.again or not evidence.isdisjoint(step.events)


class _Folding:
    """Numbers the kept steps anew and counts the others into one step of the kept one they lie in."""

    def __init__(self, steps: list[RunStep], kept: list[bool]) -> None:
        self._steps = steps
        self._kept = kept
        self._place: list[int] = []
        self._counted: dict[int, int] = {}
        self._kinds: dict[int, Counter[str]] = {}
        self._found: list[RunStep] = []

    def run(self) -> list[RunStep]:
        for number, step in enumerate(self._steps):
            above = self._place[step.parent] if step.parent >= 0 else -1
            self._place.append(self._keep(step, above) if self._kept[number] else self._count(step, above))
        for place, kinds in self._kinds.items():
            most = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common(_NAMED))
            self._found[place].name = f"{kinds.total():,} more steps: {most}"
        return self._found

    def _keep(self, step: RunStep, above: int) -> int:
        step.parent = above
        self._found.append(step)
        return len(self._found) - 1

    def _count(self, step: RunStep, above: int) -> int:
        """Return the place of the step that stands for it; what lies inside it is counted there too."""
        if above >= 0 and self._found[above].folded:
            place = above
        else:
            place = self._counted.setdefault(above, len(self._found))
            if place == len(self._found):
                self._found.append(RunStep(kind=StepKind.OTHER, name="", events=[], parent=above))
        into = self._found[place]
        into.folded += 1
        self._kinds.setdefault(place, Counter())[step.kind.value] += 1
        if step.start_ns is not None:
            into.start_ns = step.start_ns if into.start_ns is None else min(into.start_ns, step.start_ns)
        if step.end_ns is not None:
            into.end_ns = step.end_ns if into.end_ns is None else max(into.end_ns, step.end_ns)
        return place
