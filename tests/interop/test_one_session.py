"""Agents → Collector → our receiver, files and Jaeger at once: the session is the same file, whichever way it came."""

import json
from collections.abc import Iterable
from pathlib import Path

from fanned_out import FORMS, Held, all_captures, fan_out, sealed
from jaeger_losses import LOSSES, as_jaeger_keeps
from real_programs import Jaeger

from analyzer.session.codec import write_session
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Span

# What no capture has: attributes and a trace state on a link.
LINKED = {
    "traceId": "5b8aa5a2d2c872e8321cf37308d69df2",
    "spanId": "5fb397be34d26b51",
    "name": "invoke_agent linked",
    "kind": 1,
    "startTimeUnixNano": "1760000000000000001",
    "endTimeUnixNano": "1760000001000000001",
    "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}],
    "links": [
        {
            "traceId": "5b8aa5a2d2c872e8321cf37308d69df3",
            "spanId": "5fb397be34d26b52",
            "traceState": "vendor=1",
            "attributes": [{"key": "why", "value": {"stringValue": "a link"}}],
        }
    ],
}


def test_receiver_files_and_jaeger_give_the_same_sessions(
    jaeger: Jaeger, collector_binary: Path, tmp_path: Path
) -> None:
    captures = all_captures()
    linked = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [LINKED]}]}]}).encode()
    requests = [line for capture in captures for line in capture.read_bytes().splitlines()]
    sent = fan_out(tmp_path, jaeger, collector_binary, [*requests, linked])

    received = sealed(sent.runs)
    shipped = Held(sent.traces / "agents.traces.jsonl", sent.traces / "agents.logs.jsonl")
    directly = Held(*captures).sessions

    assert len(directly) > 100
    assert {run_id: received.get(run_id) for run_id in directly} == directly
    assert len(received) == len(directly) + 2  # the agent of the SDK, and the one with a link
    assert received == shipped.sessions
    assert [form for form in FORMS if Held(sent.traces / form).sessions != received] == []
    assert len(list((sent.traces / "rotated").iterdir())) > 3  # it was rotated while it was written
    assert_jaeger_kept_all_but_the_losses(shipped.spans, Held(sent.jaeger))


def assert_jaeger_kept_all_but_the_losses(sent: list[Span], told: Held) -> None:
    """Each span, and each session file byte for byte, is what was sent without the losses; and each loss is one."""
    expected = [as_jaeger_keeps(span) for span in sent]

    assert by_address(told.spans) == by_address(expected)
    assert told.sessions == sessions_of(expected)
    assert [name for name in LOSSES if by_address(with_all_but(name, sent)) == by_address(told.spans)] == []


def with_all_but(spared: str, spans: Iterable[Span]) -> Iterable[Span]:
    """Return the spans with all losses but one."""
    for span in spans:
        for name, lose in LOSSES.items():
            if name != spared:
                span = lose(span)  # noqa: PLW2901  # one loss after the other
        yield span


def by_address(spans: Iterable[Span]) -> dict[tuple[str, str], Span]:
    return {(span.trace_id, span.span_id): span for span in spans}


def sessions_of(spans: list[Span]) -> dict[str, bytes]:
    return {session.run_id: write_session(session) for session in reconstruct(spans, keep_silent=True).sessions}
