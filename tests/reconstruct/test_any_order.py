"""The same spans make the same session, byte for byte, in whatever order and however often they come."""

import random
from pathlib import Path

import pytest

from analyzer.session.codec import write_session
from critiqor_otel.formats.reading import read_path
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import LogRecord, Span

CAPTURES = Path(__file__).parent.parent / "cases" / "captures"
FAMILIES = ("otel_genai_openai_agents_full", "openinference_langchain", "otel_openai_v2_legacy", "openclaw", "codex")


def spans_and_logs(stem: Path) -> tuple[list[Span], list[LogRecord]]:
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for path in sorted(stem.parent.glob(f"{stem.name}*.otlp.jsonl")):
        for batch in read_path(path):
            spans.extend(batch.spans)
            logs.extend(batch.logs)
    return spans, logs


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_order_and_repeats_change_nothing(family: str, seed: int) -> None:
    spans, logs = spans_and_logs(CAPTURES / family / "repeat_identical_calls")
    expected = [write_session(session) for session in reconstruct(spans, logs).sessions]
    chance = random.Random(seed)
    shuffled = [*spans, *chance.sample(spans, len(spans) // 3)]
    chance.shuffle(shuffled)
    chance.shuffle(logs)

    assert [write_session(session) for session in reconstruct(shuffled, logs).sessions] == expected
