"""Differences between runs in words, for a terminal and for a pull request."""

from collections.abc import Iterator, Sequence

from analyzer.report.differences import Amount, Differences, Divergence, FailureChange, Stretch
from analyzer.report.plain import one_line

__all__ = ["amounts", "groups", "heading", "markdown_lines", "step_lines", "text_lines"]

_CONTEXT = 2  # equal steps shown before and behind what differs
_SHOWN = 12  # steps of a stretch; what is more is counted


def text_lines(found: Differences) -> Iterator[str]:
    """Yield the lines: failures, amounts, and where the steps part."""
    for title, changes in groups(found):
        yield ""
        yield f"{title}:"
        yield from (f"  {one_line(_failure(change, found))}" for change in changes)
    yield ""
    yield from amounts(found)
    for divergence in found.diverging:
        yield ""
        yield one_line(heading(divergence))
        yield from (f"  {line}" for line in step_lines(divergence))
    if found.same_way:
        yield ""
        yield f"{_counted(found.same_way, 'pair')} of runs took the same steps."


def markdown_lines(found: Differences) -> Iterator[str]:
    """Yield the lines as GitHub's Markdown; steps are a diff."""
    for title, changes in groups(found):
        yield ""
        yield f"## {title}"
        yield ""
        yield from (f"- {_escaped(_failure(change, found))}" for change in changes)
    yield ""
    yield "## Tokens, calls and time"
    yield ""
    yield from (f"- {line}" for line in amounts(found))
    for divergence in found.diverging:
        yield ""
        yield f"## {_escaped(heading(divergence))}"
        yield ""
        yield "````diff"
        yield from (line.replace("````", "'''") for line in step_lines(divergence))
        yield "````"


def groups(found: Differences) -> Iterator[tuple[str, Sequence[FailureChange]]]:
    """Yield the failures that appeared, went and stayed, each group with its title."""
    for title, changes in (("Appeared", found.appeared), ("Gone", found.gone), ("Stayed", found.stayed)):
        if changes:
            yield title, changes


def _failure(change: FailureChange, found: Differences) -> str:
    many = found.runs_before > 1 or found.runs_after > 1
    runs = (
        f" [{change.runs_before} of {found.runs_before} runs → {change.runs_after} of {found.runs_after}]"
        if many
        else ""
    )
    return f"{change.type} ({change.severity}){runs}: {change.description}"


def amounts(found: Differences) -> Iterator[str]:
    """Yield tokens, tool calls and time, before and after."""
    for name, amount, unit in (
        ("tokens", found.tokens, ""),
        ("tool calls", found.tool_calls, ""),
        ("time", found.seconds, " s"),
    ):
        if amount.before is not None or amount.after is not None:
            before, after = _number(amount.before, name), _number(amount.after, name)
            yield f"{name}: {before}{unit} → {after}{unit}{_change(amount)}"


def _number(value: float | None, what: str) -> str:
    """Return a mean as it is read: of tokens there are no parts."""
    if value is None:
        return "?"
    return f"{value:,.0f}" if what == "tokens" or value == round(value) else f"{value:,.2f}"


def _change(amount: Amount) -> str:
    if not amount.before or amount.after is None:
        return ""
    return f" ({(amount.after - amount.before) / amount.before:+.0%})"


def heading(divergence: Divergence) -> str:
    """Return which runs part, and after how many steps."""
    runs = (
        divergence.run_before
        if divergence.run_before == divergence.run_after
        else (f"{divergence.run_before} and {divergence.run_after}")
    )
    return f"Steps of {runs} part after {_counted(divergence.same_steps, 'equal step')}"


def step_lines(divergence: Divergence) -> Iterator[str]:
    """Yield the steps as a diff: `-` before only, `+` after only, a few equal ones around."""
    last = len(divergence.stretches) - 1
    for number, stretch in enumerate(divergence.stretches):
        if stretch.is_same:
            yield from _same(stretch, is_first=number == 0, is_last=number == last)
        else:
            yield from _side("-", stretch.before)
            yield from _side("+", stretch.after)


def _same(stretch: Stretch, *, is_first: bool, is_last: bool) -> Iterator[str]:
    head = () if is_first else stretch.before[:_CONTEXT]
    tail = () if is_last else stretch.before[len(head) :][-_CONTEXT:]
    left = len(stretch.before) - len(head) - len(tail)
    yield from (f"  {one_line(step)}" for step in head)
    if left:
        yield f"  … {_counted(left, 'equal step')}"
    yield from (f"  {one_line(step)}" for step in tail)


def _side(sign: str, steps: Sequence[str]) -> Iterator[str]:
    yield from (f"{sign} {one_line(step)}" for step in steps[:_SHOWN])
    if len(steps) > _SHOWN:
        yield f"{sign} … and {len(steps) - _SHOWN} more"


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>()#+!|~&@" else letter for letter in one_line(text))
