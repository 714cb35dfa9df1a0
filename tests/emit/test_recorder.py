"""What the recorder holds of a run, and what it makes of it: documented evidence, a session, spans."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import msgspec
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from trips import came_back, without_spans

from analyzer.diagnosis import diagnose
from analyzer.evaluation.failures import detect_failure_causes
from analyzer.session.model import Session
from critiqor_otel.decode.sdk import SdkReader
from critiqor_otel.emit.recorder import EvidenceRecorder, current_recorder, monitor, wrap_tool
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.span import Span, StatusCode

ReadSpans = Callable[[], list[Span]]


@pytest.fixture
def open_options(provider: TracerProvider) -> RecordingOptions:
    return RecordingOptions(tracer_provider=provider, capture_content=True, run_id="run-1")


@pytest.fixture
def closed_options(provider: TracerProvider) -> RecordingOptions:
    return RecordingOptions(tracer_provider=provider, capture_content=False, run_id="run-1", fingerprint_key=b"key")


def names(recorder: EvidenceRecorder) -> list[str]:
    return [event["event"] for event in recorder.trace]


def add(one: int, other: int = 1) -> int:
    """Add two numbers."""
    return one + other


def fail() -> None:
    raise ValueError("boom")


def same(session: Session, other: Session) -> bool:
    ours, theirs = (msgspec.structs.replace(one, trace_ids=()) for one in (session, other))
    return without_spans(ours) == without_spans(theirs)


def test_the_documented_evidence_is_recorded_as_documented() -> None:
    with monitor("What is 2 + 2?") as recorder:
        recorder.record_tool_call("calculator", {"expression": "2 + 2"}, call_id="c1")
        recorder.record_tool_output("calculator", "4", call_id="c1")
        recorder.record_llm_call("gpt-4o", {"prompt_tokens": 120, "completion_tokens": 80, "total_tokens": 200})
        recorder.record_event("decision_made", name="stop", because="done")
        evidence = recorder.finish("4")

    assert (evidence.prompt, evidence.response, evidence.evidence_level) == (
        "What is 2 + 2?",
        "4",
        "fully_instrumented",
    )
    assert [(call.tool, dict(call.args), call.id) for call in evidence.tool_calls] == [
        ("calculator", {"expression": "2 + 2"}, "c1")
    ]
    assert [(output.tool, output.output, output.call_id) for output in evidence.tool_outputs] == [
        ("calculator", "4", "c1")
    ]
    assert [event["event"] for event in evidence.trace] == [
        *("agent_start", "tool_start", "tool_end", "llm_call", "decision_made", "agent_finish"),
    ]
    assert {key: value for key, value in evidence.trace[1].items() if key != "timestamp"} == {
        "event": "tool_start",
        "tool": "calculator",
        "args": {"expression": "2 + 2"},
        "call_id": "c1",
    }
    assert (evidence.trace[4]["name"], evidence.trace[4]["because"]) == ("stop", "done")
    assert evidence.metrics.latency is not None


def test_tokens_are_summed_over_the_model_calls() -> None:
    with monitor() as recorder:
        for _ in range(3):
            recorder.record_llm_call("m", {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}})

    assert recorder.token_usage == {"prompt_tokens": 30, "prompt_tokens_details": {"cached_tokens": 12}}


def test_evidence_does_not_change_after_it_was_given() -> None:
    arguments = {"q": ["a"]}
    with monitor() as recorder:
        recorder.record_tool_call("search", arguments)
        evidence = recorder.finish()
        arguments["q"].append("b")
        recorder.record_tool_call("search", arguments)

    assert [call.to_dict()["args"] for call in evidence.tool_calls] == [{"q": ["a"]}]
    assert recorder.tool_calls[0].args == {"q": ["a"]}


def test_methods_work_without_a_block() -> None:
    recorder = monitor("hi")
    recorder.record_tool_call("search")
    evidence = recorder.finish("done")

    assert evidence.metrics.latency is None
    assert [event["event"] for event in evidence.trace] == ["agent_start", "tool_start", "agent_finish"]


def test_latency_stops_with_the_block() -> None:
    ticks = iter([10.0, 12.5])
    with monitor(options=RecordingOptions(elapsed=lambda: next(ticks))) as recorder:
        pass

    assert recorder.finish().metrics.latency == 2.5


def test_a_wrapped_tool_keeps_its_signature_and_name() -> None:
    wrapped = monitor().wrap_tool("add", add)

    assert inspect.signature(wrapped) == inspect.signature(add)
    assert (wrapped.__name__, wrapped.__doc__) == ("add", "Add two numbers.")


def test_a_wrapped_tool_is_recorded_with_arguments_and_result() -> None:
    with monitor() as recorder:
        found = recorder.wrap_tool("add", add)(1, other=2)

    assert found == 3
    assert recorder.tool_calls[0].to_dict() | {"timestamp": 0} == {
        "tool": "add",
        "args": {"args": [1], "kwargs": {"other": 2}},
        "id": "add-1",
        "timestamp": 0,
    }
    assert [(output.output, output.call_id) for output in recorder.tool_outputs] == [(3, "add-1")]


def test_an_exception_of_a_tool_is_recorded_once_and_raised() -> None:
    recorder = monitor()
    tool = recorder.wrap_tool("fail", fail)

    with pytest.raises(ValueError, match="boom"), recorder:
        tool()

    assert recorder.errors == ["boom"]
    assert names(recorder) == ["agent_start", "tool_start", "tool_end", "agent_finish"]
    (cause,) = [one for one in detect_failure_causes(recorder.finish()) if one.type == "runtime_failures"]
    assert cause.impact == -10


def test_an_exception_raised_from_a_tools_is_the_same_error() -> None:
    recorder = monitor()
    tool = recorder.wrap_tool("fail", fail)

    def agent() -> None:
        try:
            tool()
        except ValueError as error:
            raise RuntimeError("the agent gave up") from error

    with pytest.raises(RuntimeError), recorder:
        agent()

    assert recorder.errors == ["boom"]


def test_an_exception_of_the_agent_is_recorded() -> None:
    recorder = monitor()

    with pytest.raises(KeyError), recorder:
        raise KeyError("missing")

    assert recorder.errors == ["'missing'"]
    assert names(recorder) == ["agent_start", "error", "agent_finish"]


def test_async_tools_are_recorded_when_they_are_done() -> None:
    async def look_up(word: str) -> str:
        await asyncio.sleep(0)
        return word.upper()

    async def agent() -> EvidenceRecorder:
        async with monitor() as recorder:
            tool = recorder.wrap_tool("look_up", look_up)
            assert inspect.iscoroutinefunction(tool)
            assert await asyncio.gather(tool("a"), tool("b")) == ["A", "B"]
        return recorder

    recorder = asyncio.run(agent())

    assert [output.output for output in recorder.tool_outputs] == ["A", "B"]
    assert [call.id for call in recorder.tool_calls] == [output.call_id for output in recorder.tool_outputs]


def test_generators_are_recorded_with_what_they_yielded() -> None:
    def count(limit: int) -> Iterator[int]:
        yield from range(limit)

    async def stream() -> AsyncIterator[str]:
        for word in ("a", "b"):
            yield word

    async def read(recorder: EvidenceRecorder) -> list[str]:
        return [word async for word in recorder.wrap_tool("stream", stream)()]

    with monitor() as recorder:
        assert list(recorder.wrap_tool("count", count)(3)) == [0, 1, 2]
        assert asyncio.run(read(recorder)) == ["a", "b"]

    assert [output.output for output in recorder.tool_outputs] == [[0, 1, 2], ["a", "b"]]


def test_a_wrapped_generator_passes_on_what_is_sent_and_thrown_and_returned() -> None:
    def talk() -> Iterator[Any]:
        heard = yield "hello"
        try:
            yield heard
        except KeyError:
            yield "caught"
        return "end"  # what a generator returns is part of it

    with monitor() as recorder:
        steps: Any = recorder.wrap_tool("talk", talk)()
        assert [next(steps), steps.send("hi"), steps.throw(KeyError())] == ["hello", "hi", "caught"]
        with pytest.raises(StopIteration) as stopped:
            next(steps)

    assert stopped.value.value == "end"
    assert recorder.tool_outputs[0].output == ["hello", "hi", "caught"]


def test_a_generator_that_is_left_early_is_recorded() -> None:
    def endless() -> Iterator[int]:
        while True:
            yield 1

    with monitor() as recorder:
        steps: Any = recorder.wrap_tool("endless", endless)()
        next(steps)
        steps.close()

    assert recorder.tool_outputs[0].output == [1]


def test_threads_record_into_one_recorder_without_loss() -> None:
    with monitor() as recorder:
        tool = recorder.wrap_tool("add", add)
        threads = [threading.Thread(target=lambda: [tool(1) for _ in range(200)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(recorder.tool_calls) == len(recorder.tool_outputs) == 1600
    assert len({call.id for call in recorder.tool_calls}) == 1600


def test_the_innermost_recorder_is_the_current_one() -> None:
    with monitor() as outer:
        with monitor() as inner:
            assert current_recorder() is inner
        assert current_recorder() is outer

    assert current_recorder() is None
    assert inner.run_id == outer.run_id


def test_a_tool_wrapped_on_its_own_is_recorded_by_whoever_is_current() -> None:
    tool = wrap_tool("add", add)

    assert tool(1) == 2
    with monitor() as recorder:
        tool(2)

    assert [dict(call.args)["args"] for call in recorder.tool_calls] == [[2]]


def busy(recorder: EvidenceRecorder) -> None:
    recorder.wrap_tool("add", add)(1)
    recorder.record_tool_call("lost", {"q": "Ωmega \ud83e"}, call_id="x")
    recorder.record_tool_output("other", object(), call_id="unknown")
    recorder.record_llm_call("gpt", {"prompt_tokens": 3}, duration_ms=5.0)
    recorder.record_retry("add", attempt=2, reason="timeout")
    recorder.record_memory("search", query="who", outcome="miss")
    recorder.record_context(used=90, window=100)
    recorder.record_skill("pdf")
    recorder.record_decision("stop here")
    for number in range(300):
        recorder.record_event("step", number=number)


def test_spans_bring_back_the_recorded_session(open_options: RecordingOptions, read_spans: ReadSpans) -> None:
    with monitor("hello", agent="helper", options=open_options) as recorder:
        busy(recorder)

    back = came_back(read_spans())

    assert same(back, recorder.session())
    assert back.notes == ()
    assert max(len(span.events) for span in read_spans()) <= 128


def test_a_value_limit_of_the_sdk_cuts_no_event() -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_attribute_length=64), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    options = RecordingOptions(tracer_provider=provider, capture_content=True)
    with monitor("hello " * 30, options=options) as recorder:
        recorder.record_event("step", text="x" * 500)

    reader = SdkReader()
    assert same(came_back([reader.span(span) for span in memory.get_finished_spans()]), recorder.session())


def test_tool_spans_are_parents_of_what_happens_in_the_tool(
    open_options: RecordingOptions, provider: TracerProvider, read_spans: ReadSpans
) -> None:
    def tool() -> None:
        with provider.get_tracer("http").start_as_current_span("GET"):
            pass

    with monitor(agent="helper", options=open_options) as recorder:
        recorder.wrap_tool("fetch", tool)()

    spans = {span.name: span for span in read_spans()}
    assert spans["GET"].parent_span_id == spans["execute_tool fetch"].span_id
    assert spans["execute_tool fetch"].parent_span_id == spans["invoke_agent helper"].span_id


def test_a_thread_without_context_still_tells_of_its_run(open_options: RecordingOptions, read_spans: ReadSpans) -> None:
    with monitor(agent="helper", options=open_options) as recorder:
        thread = threading.Thread(target=recorder.wrap_tool("add", add), args=(1,))
        thread.start()
        thread.join()

    spans = {span.name: span for span in read_spans()}
    assert spans["execute_tool add"].parent_span_id == spans["invoke_agent helper"].span_id


def test_a_nested_recorder_is_a_sub_agent_of_the_run(open_options: RecordingOptions, read_spans: ReadSpans) -> None:
    inner_options = RecordingOptions(tracer_provider=open_options.tracer_provider, capture_content=True)
    with monitor(agent="outer", options=open_options) as outer:
        outer.record_tool_call("delegate", {}, call_id="d")
        with monitor(agent="inner", options=inner_options) as inner:
            inner.record_tool_call("search", {"q": 1})
        outer.record_tool_output("delegate", "done", call_id="d")

    back = came_back(read_spans())

    assert [event.event_type for event in back.events] == [
        *("agent_start", "tool_call", "agent_start", "tool_call", "agent_end", "tool_result", "agent_end"),
    ]
    assert back.agent.name == "outer"
    assert back.events[2].payload["sub_agent"] is True


def test_an_error_that_two_recorders_see_is_one_event_of_the_run(
    open_options: RecordingOptions, read_spans: ReadSpans
) -> None:
    with (
        pytest.raises(ValueError, match="boom"),
        monitor(options=open_options) as outer,
        monitor(options=open_options) as inner,
    ):
        fail()

    assert (outer.errors, inner.errors) == (["boom"], ["boom"])
    assert [event.event for event in came_back(read_spans()).events].count("error_event") == 1


def test_a_failed_run_has_a_failed_span(open_options: RecordingOptions, read_spans: ReadSpans) -> None:
    with pytest.raises(ValueError, match="boom"), monitor(agent="helper", options=open_options):
        fail()

    (span,) = read_spans()
    assert (span.status, span.status_message) == (StatusCode.ERROR, "boom")


def test_without_content_no_argument_or_result_leaves(closed_options: RecordingOptions, read_spans: ReadSpans) -> None:
    with monitor("my secret prompt", agent="helper", options=closed_options) as recorder:
        recorder.wrap_tool("echo", lambda text: f"answer to {text}")("a private question")
        recorder.record_decision("because of the private question")
        recorder.record_event("note", text="private note")

    told = repr(read_spans())
    assert all(word not in told for word in ("private", "prompt", "answer to"))


def test_without_content_a_loop_is_still_found(closed_options: RecordingOptions, read_spans: ReadSpans) -> None:
    with monitor(agent="helper", options=closed_options) as recorder:
        tool = recorder.wrap_tool("search", lambda _query: {"hits": []})
        for _ in range(5):
            tool("opening hours")

    verdict = diagnose(came_back(read_spans()))

    assert [cause.type for cause in verdict.failure_causes if cause.type == "infinite_tool_loop"] == [
        "infinite_tool_loop"
    ]


def test_secrets_are_scrubbed_even_where_content_is_captured(
    open_options: RecordingOptions, read_spans: ReadSpans
) -> None:
    with monitor(agent="helper", options=open_options) as recorder:
        recorder.record_tool_call("login", {"password": "hunter2", "url": "https://bob:hunter2@host/"})
        recorder.record_tool_output("login", "token=hunter2abc", error="ValueError: api_key=hunter2")

    assert "hunter2" not in repr(read_spans())


def test_without_a_provider_nothing_but_the_record_is_made() -> None:
    with monitor() as recorder:
        busy(recorder)

        assert not trace.get_current_span().is_recording()

    assert len(recorder.session().events) == len(recorder.trace)
