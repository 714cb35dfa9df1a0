"""What a user of Jaeger's page finds: runs by verdict, tool and error, and trees that explain themselves."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import CAPTURES, run_command
from jaeger_trees import lines_of, tags_of
from real_programs import INTEROP, ROOT, Jaeger

RUN = INTEROP / "runs" / "refunds.session.json"
PAGE = (ROOT / "docs" / "jaeger.md").read_text(encoding="utf-8")
NAMES = ("clean_two_tools", "repeat_identical_calls", "tool_crash_aborts_run", "tool_error_then_retry")
FILES = [CAPTURES / "pydantic_ai" / f"{name}.otlp.jsonl" for name in NAMES]


@pytest.fixture(scope="module")
def seen(jaeger_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jaeger]:
    """A Jaeger that holds recorded and captured runs, and the verdicts on them."""
    program = Jaeger(jaeger_binary)
    endpoint = f"http://127.0.0.1:{program.otlp_http}"
    for verb in ("replay", "annotate"):
        done = run_command(tmp_path_factory.mktemp(verb), verb, RUN, *FILES, "--endpoint", endpoint)
        assert done.code == 0, done.err
    yield program
    program.kill()


def trees(found: list[dict[str, Any]]) -> list[str]:
    """Return which captures were found, by the lines that tell them apart."""
    marks = {"get_price": NAMES[0], "broken_tool": NAMES[2], "flaky_fetch": NAMES[3]}
    shown = ["\n".join(lines_of(trace)) for trace in found]
    return sorted(next((name for word, name in marks.items() if word in text), NAMES[1]) for text in shown)


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ({}, NAMES),
        ({"critiqor.readiness": "unsafe_for_production"}, NAMES[1:2]),
        ({"critiqor.failure.type": "infinite_tool_loop", "critiqor.failure.severity": "critical"}, NAMES[1:2]),
        ({"gen_ai.tool.name": "get_price"}, NAMES[:1]),
        ({"gen_ai.tool.name": "flaky_fetch", "exception.type": "pydantic_ai.exceptions.ToolRetryError"}, NAMES[3:]),
        ({"error.type": "infinite_tool_loop"}, NAMES[1:2]),
        ({"critiqor.annotation": "diagnosis"}, NAMES),
    ],
)
def test_runs_are_found_as_a_user_looks_for_them(seen: Jaeger, tags: dict[str, str], found: tuple[str, ...]) -> None:
    assert trees(seen.find("support-agent", **tags)) == sorted(found)


def test_errors_are_marked_as_errors(seen: Jaeger) -> None:
    traces = seen.find("support-agent")
    failed = {line.strip() for trace in traces for line in lines_of(trace) if line.endswith("!")}

    assert {"critiqor.diagnosis  !", "execute_tool flaky_fetch  !", "execute_tool broken_tool  !"} <= failed
    # The page says so: this Jaeger's memory store compares a truth value with a text.
    assert seen.find("support-agent", error="true") == []


def test_operations_say_what_they_are(seen: Jaeger) -> None:
    operations = {one["name"] for one in seen.get("/api/operations", service="support")}

    assert operations == {
        "invoke_agent support",
        "turn 1",
        "turn 2",
        "turn 3",
        "turn 4",
        "chat gpt-4o",
        "execute_tool search_docs",
        "critiqor.diagnosis",
        "critiqor.failure infinite_tool_loop",
    }


def test_a_run_reads_agent_turns_calls(seen: Jaeger) -> None:
    (trace,) = seen.find("support")

    assert lines_of(trace) == [
        "invoke_agent support",
        "  critiqor.diagnosis",
        "    critiqor.failure infinite_tool_loop  !",
        *(line for turn in (1, 2, 3) for line in (f"  turn {turn}", "    chat gpt-4o", "    execute_tool search_docs")),
        "  turn 4",
        "    chat gpt-4o",
    ]


def test_jaeger_finds_nothing_odd_in_what_was_sent(seen: Jaeger) -> None:
    traces = [*seen.find("support"), *seen.find("support-agent")]

    assert [span["warnings"] for trace in traces for span in trace["spans"] if span["warnings"]] == []


def test_the_trees_on_the_page_are_those_of_the_api(seen: Jaeger) -> None:
    shown = re.findall(r"<!-- tree: (.+?) -->\n```text\n(.*?)```", PAGE, re.DOTALL)

    assert len(shown) == 2
    for search, text in shown:
        service, *tags = shlex.split(search)
        (trace,) = seen.find(service, **dict(tag.split("=", 1) for tag in tags))
        assert text.splitlines() == lines_of(trace), search


def test_the_tags_on_the_page_are_those_of_the_api(seen: Jaeger) -> None:
    (trace,) = seen.find("support-agent", **{"critiqor.readiness": "unsafe_for_production"})
    held = {name: tags_of(span) for span in trace["spans"] for name in [span["operationName"].partition(" ")[0]]}

    shown = re.findall(r"^\| `(critiqor\.diagnosis|critiqor\.failure)` \| `(.+?)` \| `?(.+?)`? \|", PAGE, re.MULTILINE)

    assert len(shown) > 10
    told = [(span, key, value) for span, key, value in shown if value != "…"]
    assert [(span, key, value) for span, key, value in told if str(held[span].get(key)) != value] == []
