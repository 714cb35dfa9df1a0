"""The family that CONTRIBUTING.md shows is a family: registered, it reads spans."""

import re
import textwrap
from pathlib import Path

import pytest

from analyzer.diagnosis import diagnose
from critiqor_otel.conventions import registry
from critiqor_otel.conventions.convention import Convention, Field, SpanRole
from critiqor_otel.engine.checkup import checkup
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span

DOCUMENT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
BLOCK = re.search(r"^ *```python\n(.*?)^ *```$", DOCUMENT, re.MULTILINE | re.DOTALL)
TRACE = "1" * 32


def span(number: int, *, parent: int | None = None, **attributes: object) -> Span:
    return Span(
        trace_id=TRACE,
        span_id=f"{number:016x}",
        parent_span_id=None if parent is None else f"{parent:016x}",
        name="acme",
        start_ns=number,
        end_ns=100 - number,
        attributes={f"acme.{key}": value for key, value in attributes.items()},  # type: ignore[misc]
    )


SPANS = [
    span(1, kind="run", chat="chat-7"),
    span(2, parent=1, kind="llm", prompt_tokens="120"),
    *(span(number, parent=1, kind="function", function="search", arguments='{"q": "x"}') for number in (3, 4, 5)),
]


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> Convention:
    """Define the family as the document does, and register it."""
    assert BLOCK is not None
    module: dict[str, object] = {}
    exec(textwrap.dedent(BLOCK[1]), module)  # noqa: S102  # the document's own code
    found = module["CONVENTION"]
    assert isinstance(found, Convention)
    monkeypatch.setattr(registry, "TABLES", registry.Tables((found, *registry.ALL)))
    return found


def test_it_reads_a_span(family: Convention) -> None:
    facts = registry.facts_of(SPANS[3])

    assert (facts.family, facts.role) == (family.name, SpanRole.TOOL)
    assert facts.get(Field.TOOL_ARGUMENTS) == {"q": "x"}


@pytest.mark.usefixtures("family")
def test_its_runs_are_diagnosed_like_any_others() -> None:
    (session,) = reconstruct(SPANS).sessions
    verdict = diagnose(session)

    assert session.run_id == "chat-7"
    assert verdict.evidence_summary.tool_calls_by_name == {"search": 3}
    assert verdict.evidence_summary.tokens.input == 120
    assert [cause.type for cause in verdict.failure_causes] == ["infinite_tool_loop"]


def test_without_its_line_in_the_registry_nobody_knows_its_spans() -> None:
    assert registry.facts_of(SPANS[3]).family is None
    assert checkup(()).families == ()
