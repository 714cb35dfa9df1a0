"""A recorder and other instrumentations in one run: every event once, in order of time."""

from opentelemetry.sdk.trace import TracerProvider
from trips import TRIPS, came_back

from critiqor_otel.emit.processor import CritiqorSpanProcessor
from critiqor_otel.emit.recorder import monitor
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.testing import MemorySink, traced

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "gen_ai.usage.input_tokens": 7}


def run(provider: TracerProvider) -> None:
    options = RecordingOptions(tracer_provider=provider, capture_content=True, run_id="run-1")
    tracer = provider.get_tracer("opentelemetry.instrumentation.openai")
    with monitor("hello", agent="helper", options=options) as recorder:
        with tracer.start_as_current_span("chat gpt", attributes=CHAT):
            pass
        recorder.wrap_tool("search", lambda query: f"found {query}")("hours")
        with tracer.start_as_current_span("chat gpt", attributes=CHAT):
            pass
        recorder.record_decision("done")


def test_events_of_both_stand_in_order_of_time() -> None:
    for trip in TRIPS:
        sink = MemorySink()
        run(traced(sink, CritiqorSpanProcessor()))

        session = came_back(trip(sink.spans))

        assert session.run_id == "run-1"
        assert session.agent.name == "helper"
        assert session.notes == ()
        assert [event.event_type for event in session.events] == [
            "agent_start",
            *("before_provider_request", "after_provider_response"),
            *("tool_call", "tool_result"),
            *("before_provider_request", "after_provider_response"),
            "decision",
            "agent_end",
        ]
        assert len({event.event_id for event in session.events}) == len(session.events)


def test_tokens_of_the_instrumentation_count_once() -> None:
    sink = MemorySink()
    run(traced(sink, CritiqorSpanProcessor()))

    session = came_back(sink.spans)

    usages = [event.payload["usage"] for event in session.events if event.event == "token_usage"]
    assert usages == [{"input_tokens": 7}, {"input_tokens": 7}]


def test_stamped_spans_are_of_the_recorders_run() -> None:
    sink = MemorySink()
    run(traced(sink, CritiqorSpanProcessor(run_id="another")))

    assert {span.attributes["critiqor.run_id"] for span in sink.spans} == {"run-1"}
